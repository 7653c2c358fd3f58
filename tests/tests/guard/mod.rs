//! The instance guard held against its model: the state machine that ships through every step, the whole guard, with its
//! threads and a real file, through runs.

mod agree;
mod every_step;
mod gate;
mod has;
mod runs;
mod twin;
mod whole;
