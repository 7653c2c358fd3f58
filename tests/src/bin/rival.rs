//! A rival in a process of its own: its database and its number are its arguments, its lines come from
//! standard input.
#![allow(clippy::expect_used, reason = "only the tests start it")]

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().expect("usage: rival FILE NUMBER");
    let (path, number) = (next(), next());
    let lines = std::io::stdin().lines().map_while(Result::ok);
    tests::rival::serve(path.as_ref(), number.parse().expect("a number"), lines, |answer| {
        println!("{answer}")
    });
}
