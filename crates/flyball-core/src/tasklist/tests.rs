//! Tables over reading, planning and checking the list.
