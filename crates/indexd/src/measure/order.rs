//! Order of entry against order of arrival.

/// How entries compared with arrivals. Each entry is in just one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Order {
    /// Entered after others who had all arrived earlier: as it should be.
    pub in_order: u64,
    /// Arrived while one who had entered before it was arriving: between those two there is no order,
    /// so nothing can be said.
    pub overlapping: u64,
    /// Entered after someone who had arrived later.
    pub out_of_order: u64,
}

impl Order {
    /// Entries whose arrival could be compared with all earlier ones.
    #[must_use]
    pub fn compared(&self) -> u64 {
        self.in_order + self.out_of_order
    }
}

/// Sorts entries into the classes of [`Order`] as they come.
///
/// Two numbers stand for everyone who has entered: the latest opening of a bracket tells whether anyone of
/// them arrived after the newcomer, the latest closing whether all of them arrived before.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    order: Order,
    latest_opened: u64,
    latest_closed: u64,
}

impl Ranks {
    /// The one whose first poll lay between the two ticks enters. Ticks start at 1.
    pub(super) fn enter(&mut self, opened: u64, closed: u64) {
        debug_assert!(0 < opened && opened < closed, "a bracket opens before it closes");
        let class = if closed < self.latest_opened {
            &mut self.order.out_of_order
        } else if self.latest_closed < opened {
            &mut self.order.in_order
        } else {
            &mut self.order.overlapping
        };
        *class += 1;
        self.latest_opened = self.latest_opened.max(opened);
        self.latest_closed = self.latest_closed.max(closed);
    }

    pub(super) fn order(&self) -> Order {
        self.order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Classes of the entries, given as brackets in order of entry: in order, overlapping, out of order.
    fn classes(brackets: &[(u64, u64)]) -> (u64, u64, u64) {
        let mut ranks = Ranks::default();
        for &(opened, closed) in brackets {
            ranks.enter(opened, closed);
        }
        let order = ranks.order();
        assert_eq!(order.compared() + order.overlapping, brackets.len() as u64);
        (order.in_order, order.overlapping, order.out_of_order)
    }

    #[test]
    fn order_of_arrival_is_in_order() {
        assert_eq!(classes(&[(1, 2), (3, 4), (5, 9), (10, 11)]), (4, 0, 0));
    }

    #[test]
    fn an_overtaken_one_is_out_of_order() {
        // 1 2 3 arrive, 1 3 2 enter: 2 was overtaken.
        assert_eq!(classes(&[(1, 2), (5, 6), (3, 4)]), (2, 0, 1));
        // Last come, first served: all but the first to enter were overtaken.
        assert_eq!(classes(&[(5, 6), (3, 4), (1, 2)]), (1, 0, 2));
    }

    #[test]
    fn one_overtaken_long_ago_is_still_found() {
        assert_eq!(classes(&[(1, 2), (5, 6), (7, 8), (9, 10), (3, 4)]), (4, 0, 1));
    }

    #[test]
    fn overlapping_arrivals_have_no_order() {
        assert_eq!(classes(&[(1, 3), (2, 4)]), (1, 1, 0));
        assert_eq!(classes(&[(2, 4), (1, 3)]), (1, 1, 0));
        // A long first poll overlaps many others, before and after it.
        assert_eq!(classes(&[(1, 9), (2, 3), (4, 5), (10, 11)]), (2, 2, 0));
    }
}
