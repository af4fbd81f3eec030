import { join, relative } from "node:path";
import ts from "typescript";
import { clientExports } from "./client-exports.js";

/**
 * Writes the types of `sallyport/client` as one file that needs nothing: no Node, no DOM, no package. What schemas say is
 * written out; every other declaration that a published name leads to comes along, without being exported.
 *
 * @throws Error when two files declare the same name, or something leads outside
 */
export function clientTypes(root) {
  const source = join(root, "src");
  const program = createProgram(
    root,
    Object.keys(clientExports).map((file) => join(source, file)),
  );
  const declared = declarationsOf(program, source);
  const published = new Set(Object.values(clientExports).flat());
  const wanted = [...published];
  const taken = new Map();
  for (const name of wanted) {
    if (taken.has(name)) continue;
    const found = declared.get(name);
    if (found === undefined) {
      if (published.has(name)) throw new Error(`client types: ${name} is published but not declared`);
      continue;
    }
    if (found.length > 1)
      throw new Error(`client types: ${name} is declared in ${found.map(({ file }) => file).join(" and ")}`);
    const [{ text, references, isValue }] = found;
    // A property may be called like a constant; what a type needs of one was written out.
    if (isValue && !published.has(name)) continue;
    taken.set(name, text);
    for (const each of references) if (!taken.has(each)) wanted.push(each);
  }
  const parts = [...taken].map(([name, text]) =>
    published.has(name) ? text : text.replace(/^((?:\/\*\*[\s\S]*?\*\/\s*)?)export /, "$1"),
  );
  return `${parts.join("\n")}\nexport {};\n`;
}

function createProgram(root, files) {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(root, "tsconfig.json"),
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined },
  );
  return ts.createProgram(files, {
    ...config.options,
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
  });
}

/** Every top-level declaration below `source`, by name: its text as `.d.ts`, and the names it leads to. */
function declarationsOf(program, source) {
  const checker = program.getTypeChecker();
  const declared = new Map();
  const sourceOf = (fileName) => program.getSourceFile(fileName);
  for (const { fileName } of program.getSourceFiles()) {
    if (!fileName.startsWith(source)) continue;
    let emitted = "";
    program.emit(
      sourceOf(fileName),
      (_path, text) => {
        emitted = text;
      },
      undefined,
      true,
    );
    const file = ts.createSourceFile(fileName, emitted, ts.ScriptTarget.Latest, true);
    for (const statement of file.statements) {
      const name = nameOf(statement);
      if (name === null) continue;
      const text = isFromSchema(statement)
        ? writtenOut(checker, sourceOf(fileName), statement, name)
        : statement.getFullText(file).trim();
      const entry = {
        file: relative(source, fileName),
        text,
        references: referencesOf(text),
        isValue: ts.isVariableStatement(statement),
      };
      declared.set(name, [...(declared.get(name) ?? []), entry]);
    }
  }
  return declared;
}

function nameOf(statement) {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations[0]?.name.getText() ?? null;
  return statement.name?.getText() ?? null;
}

/** `Static<typeof XSchema>`, `keyof typeof table`, `{ [T in …]: … }`: what only the checker can write without the value behind it. */
function isFromSchema(statement) {
  return (
    ts.isTypeAliasDeclaration(statement) &&
    !statement.typeParameters &&
    /\btypeof\b|\[\w+ in /.test(statement.type.getText())
  );
}

function writtenOut(checker, source, statement, name) {
  const original = source.statements.find(
    (each) => ts.isTypeAliasDeclaration(each) && each.name.text === name,
  );
  const flags =
    ts.TypeFormatFlags.NoTruncation |
    ts.TypeFormatFlags.InTypeAlias |
    ts.TypeFormatFlags.MultilineObjectLiterals;
  const type = checker.typeToString(checker.getTypeAtLocation(original.name), undefined, flags);
  const comment = statement.getFullText().slice(0, statement.getLeadingTriviaWidth()).trim();
  return `${comment === "" ? "" : `${comment}\n`}export type ${name} = ${type};`;
}

function referencesOf(text) {
  const names = new Set();
  const visit = (node) => {
    if (ts.isIdentifier(node)) names.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("part.d.ts", text, ts.ScriptTarget.Latest));
  return names;
}
