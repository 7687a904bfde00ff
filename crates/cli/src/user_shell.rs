//! The user's shell behind a link, with a prompt that says where it is.
//!
//! The prompt begins with words such as `[tightlink 20 Mbit/s, 40 ms]`; the rest is the user's own. No file of the user is changed. bash gets a file of start-up commands that first reads the user's, and zsh a folder
//! of them. fish gets a command, and other shells the variable `PS1`.

use crate::problem::Problem;
use emu::User;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

/// The variable with the beginning of the prompt.
const PROMPT: &str = "TIGHTLINK_PROMPT";

/// The commands for bash. The prompt is set before each display, because programs such as starship set it, too.
const BASH: &str = r#"[ -r ~/.bashrc ] && . ~/.bashrc
__tightlink_prompt() {
    case $PS1 in "$TIGHTLINK_PROMPT"*) ;; *) PS1=$TIGHTLINK_PROMPT$PS1 ;; esac
}
PROMPT_COMMAND="${PROMPT_COMMAND:+$PROMPT_COMMAND
}__tightlink_prompt"
"#;

/// The commands for zsh before all others: the user's own, from the user's own folder.
const ZSH_ENVIRONMENT: &str = r#"TIGHTLINK_ZDOTDIR=$ZDOTDIR
if [[ -n $TIGHTLINK_USER_ZDOTDIR ]]; then export ZDOTDIR=$TIGHTLINK_USER_ZDOTDIR; else unset ZDOTDIR; fi
[[ -r ${ZDOTDIR:-$HOME}/.zshenv ]] && . ${ZDOTDIR:-$HOME}/.zshenv
TIGHTLINK_USER_ZDOTDIR=$ZDOTDIR
ZDOTDIR=$TIGHTLINK_ZDOTDIR
"#;

/// The commands for zsh with a terminal.
const ZSH: &str = r#"if [[ -n $TIGHTLINK_USER_ZDOTDIR ]]; then export ZDOTDIR=$TIGHTLINK_USER_ZDOTDIR; else unset ZDOTDIR; fi
unset TIGHTLINK_USER_ZDOTDIR TIGHTLINK_ZDOTDIR
[[ -r ${ZDOTDIR:-$HOME}/.zshrc ]] && . ${ZDOTDIR:-$HOME}/.zshrc
__tightlink_prompt() { [[ $PS1 == "$TIGHTLINK_PROMPT"* ]] || PS1=$TIGHTLINK_PROMPT$PS1 }
precmd_functions+=(__tightlink_prompt)
"#;

/// The command for fish, after the user's own.
const FISH: &str = "functions -c fish_prompt __tightlink_prompt; \
                    function fish_prompt; echo -n $TIGHTLINK_PROMPT; __tightlink_prompt; end";

/// A shell to start.
#[derive(Debug)]
pub(crate) struct UserShell {
    /// The program and its arguments.
    pub(crate) command: Vec<OsString>,
    /// Variables for it.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// The folder with start-up commands, which the shell needs as long as it starts.
    _folder: Option<TempDir>,
}

impl UserShell {
    /// Prepares the shell of `user`, or of the user who runs this program, at a place with this `label`.
    ///
    /// # Errors
    /// If a temporary folder cannot be written.
    pub(crate) fn at(label: &str, user: Option<&User>) -> Result<Self, Problem> {
        let named = match user {
            Some(user) => user.shell().map(OsString::from),
            None => std::env::var_os("SHELL"),
        };
        let program = named.filter(|name| Path::new(name).is_absolute()).unwrap_or_else(|| "/bin/sh".into());
        let kind = Path::new(&program).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let prompt = format!("[tightlink {label}] ");
        let mut shell = Self {
            command: vec![program],
            environment: vec![(PROMPT.into(), prompt.clone().into())],
            _folder: None,
        };
        match kind.as_str() {
            "bash" => {
                let folder = folder(&[("bashrc", BASH)])?;
                let file = folder.path().join("bashrc");
                shell.command.extend(["--rcfile".into(), file.into(), "-i".into()]);
                shell._folder = Some(folder);
            }
            "zsh" => {
                let folder = folder(&[(".zshenv", ZSH_ENVIRONMENT), (".zshrc", ZSH)])?;
                let own = std::env::var_os("ZDOTDIR").filter(|_| user.is_none()).unwrap_or_default();
                shell.environment.push(("TIGHTLINK_USER_ZDOTDIR".into(), own));
                shell.environment.push(("ZDOTDIR".into(), folder.path().into()));
                shell.command.push("-i".into());
                shell._folder = Some(folder);
            }
            "fish" => shell.command.extend(["--init-command".into(), FISH.into()]),
            _ => shell.environment.push(("PS1".into(), format!("{prompt}$ ").into())),
        }
        Ok(shell)
    }
}

/// Makes a temporary folder with these files, which all users may read: the shell may be another user's.
fn folder(files: &[(&str, &str)]) -> Result<TempDir, Problem> {
    let make = || {
        let folder = tempfile::Builder::new().prefix("tightlink-shell-").tempdir()?;
        for (name, text) in files {
            let file = folder.path().join(name);
            fs::write(&file, text)?;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o644))?;
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
        Ok(folder)
    };
    make().map_err(|error: std::io::Error| {
        Problem::environment(format!("a temporary folder for the shell's prompt: {error}"))
    })
}
