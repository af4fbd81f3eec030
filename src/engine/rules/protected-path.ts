/** Folders and files, at any depth, whose content makes a VCS, agent, editor, shell, package manager or CI run things. */
const protectedNames: ReadonlySet<string> = new Set(
  (
    ".git .gitconfig .gitattributes .gitmodules .hg .hgrc .svn .jj .bzr " +
    ".claude claude.md .codex .cursor .cursorrules .gemini gemini.md .qwen qwen.md .opencode opencode.json .agents agents.md " +
    ".aider.conf.yml .continue .windsurf .windsurfrules .roo .cline .clinerules .kiro .mcp.json .sallyport " +
    ".vscode .vscode-server .idea .fleet .zed .vim .vimrc .exrc .nvimrc .nvim .emacs .emacs.d .dir-locals.el .editorconfig " +
    ".envrc .direnv .env.fish .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile " +
    ".zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc .xprofile .xinitrc .screenrc .tmux.conf " +
    ".config .local .ssh .gnupg .aws .kube .docker .netrc authorized_keys " +
    ".github .gitlab .gitea .forgejo .gitlab-ci.yml .gitlab-ci.yaml .circleci .buildkite .ci .travis.yml .drone.yml " +
    ".woodpecker .woodpecker.yml .appveyor.yml appveyor.yml azure-pipelines.yml bitbucket-pipelines.yml jenkinsfile " +
    ".husky .huskyrc .pre-commit-config.yaml lefthook.yml .lefthook.yml .lintstagedrc .devcontainer devcontainer.json " +
    ".npmrc .yarnrc .yarnrc.yml .yarn .pnpmfile.cjs .pypirc .cargo .mvn .tool-versions .mise.toml mise.toml .mise .asdfrc"
  ).split(" "),
);
const protectedPatterns = [
  /^git~\d+$/,
  /\.code-workspace$/,
  /^\.env\.fish$/,
  /^\.lintstagedrc\./,
  /^\.huskyrc\./,
];

/**
 * True if a write to this path still asks in mode `edits`: some segment names version control, agent, editor, shell or CI
 * configuration. Names are compared as the most forgiving file system would: without case, compatibility forms, invisible
 * characters, trailing dots and blanks, and stream suffixes (`.GIT`, `.g\u200cit`, `.git.`, `.git::$DATA`, `git~1`).
 */
export function isProtectedPath(path: string): boolean {
  return path.split(/[/\\]/).some(isProtectedName);
}

/** The same for one segment. */
export function isProtectedName(segment: string): boolean {
  const name = segment
    .replace(/[\p{C}\p{Default_Ignorable_Code_Point}]/gu, "")
    .normalize("NFKC")
    .toLowerCase()
    .replace(/:.*$/su, "")
    .replace(/[. ]+$/u, "");
  return protectedNames.has(name) || protectedPatterns.some((pattern) => pattern.test(name));
}
