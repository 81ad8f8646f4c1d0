//! smoke
use fifolock_conformance::tools::*;
use fifolock_core::raw::StdLock;
use fifolock_core::{Mutex, RwLock};
type P = Watched<StdLock>;
#[test]
fn m() {
    let m = Mutex::<_, P>::new(0);
    let g = m.try_lock().unwrap();
    let (mut b, cb) = queued(m.lock());
    let (mut c, cc) = queued(m.lock());
    assert_eq!(m.queued(), 2);
    drop(g);
    assert_eq!((cb.wakes(), cc.wakes()), (1, 0));
    assert!(m.try_lock().is_err());
    let g = ready(&mut b);
    drop(g);
    assert_eq!(cc.wakes(), 1);
    drop(c);
    assert!(!m.is_locked());
    c = Box::pin(m.lock());
    drop(ready(&mut c));
}
#[test]
fn rw() {
    let l = RwLock::<_, P>::new(0);
    let w = l.try_write().unwrap();
    let mut v: Vec<_> = (0..100).map(|_| queued(l.read())).collect();
    drop(w);
    assert_eq!(l.state().readers, 100);
    let (mut w, cw) = queued(l.write());
    for (r, c) in &mut v {
        assert_eq!(c.wakes(), 1);
        drop(ready(r));
    }
    assert_eq!(cw.wakes(), 1);
    let w = ready(&mut w);
    let mut v: Vec<_> = (0..100).map(|_| queued(l.read())).collect();
    let r = w.downgrade();
    assert_eq!(l.state().readers, 101);
    v.truncate(50);
    assert_eq!(l.state().readers, 51);
    drop(v);
    drop(r);
    assert_eq!(l.state().readers, 0);
}
