//! A guard of data that is not `Send` must stay on its thread.

use fifolock::Mutex;
use std::rc::Rc;

fn send(_: impl Send) {}

fn main() {
    let mutex = Mutex::new(Rc::new(1));
    send(mutex.try_lock().unwrap());
}
