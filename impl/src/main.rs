//! The command `tenure`: everything is in the library's module `cli`.

fn main() -> std::process::ExitCode {
    tenure::cli::main()
}
