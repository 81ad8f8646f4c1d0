//! A guard can't take what must stay on its thread to another.

use fifolock::Mutex;
use std::rc::Rc;

fn send(_: impl Send) {}

fn main() {
    let mutex = Mutex::new(Rc::new(1));
    send(mutex.try_lock().unwrap());
}
