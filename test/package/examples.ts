// The examples in the public doc comments, taken from the declarations of the installed package.
import { join } from 'node:path'
import ts from 'typescript'

export interface PublicItem {
  entry: string
  /** `Core.rewrite` for a member. */
  name: string
  /** Whether it is there at run time. */
  isValue: boolean
  /** What a caller calls: functions and classes have to show how. */
  isCallable: boolean
  examples: string[]
}

const ENTRIES = {
  mirrorpid: 'index.d.ts',
  'mirrorpid/js': 'js.d.ts',
  'mirrorpid/simulate': 'simulate.d.ts',
  'mirrorpid/node': join('node', 'index.d.ts'),
}

/** Every export of every entry, and the members of those that are classes or interfaces. */
export function publicItems(project: string): PublicItem[] {
  const dist = join(project, 'node_modules', 'mirrorpid', 'dist')
  const files = Object.values(ENTRIES).map((file) => join(dist, file))
  const program = ts.createProgram(files, { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext })
  const checker = program.getTypeChecker()
  return Object.entries(ENTRIES).flatMap(([entry, file]) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(join(dist, file))!)!
    return checker.getExportsOfModule(module).flatMap((exported) => {
      const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0
      const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported
      const isValue = (symbol.flags & ts.SymbolFlags.Value) !== 0 && !isTypeOnly(exported)
      const callable = ts.SymbolFlags.Function | ts.SymbolFlags.Class
      const members = [...(symbol.members?.values() ?? []), ...(symbol.exports?.values() ?? [])]
      return [
        {
          entry,
          name: exported.name,
          isValue,
          isCallable: isValue && (symbol.flags & callable) !== 0,
          examples: examplesOf(symbol, checker),
        },
        ...members.map((member) => ({
          entry,
          name: `${exported.name}.${member.name}`,
          isValue: false,
          isCallable: false,
          examples: examplesOf(member, checker),
        })),
      ]
    })
  })
}

/** `export type { Name }` of a class gives its type alone. */
function isTypeOnly(symbol: ts.Symbol): boolean {
  return (symbol.declarations ?? []).some((declaration) =>
    ts.isTypeOnlyImportOrExportDeclaration(declaration),
  )
}

function examplesOf(symbol: ts.Symbol, checker: ts.TypeChecker): string[] {
  return symbol
    .getJsDocTags(checker)
    .filter(({ name }) => name === 'example')
    .map(({ text }) => ts.displayPartsToString(text))
}

/**
 * An example as the body of an async function. `expression // literal` becomes `same(expression, literal)`,
 * `expression // throws Name: why` becomes `throws(() => expression, 'Name')`, and `'/kafka...'` becomes `path('/kafka...')`.
 */
export function toBody(example: string): string {
  const source = ts.createSourceFile('example.js', example, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS)
  const edits: { at: number; end: number; text: string }[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) && /^\/(kafka|data|mapped)\b/.test(node.text)) {
      edits.push({ at: node.getStart(), end: node.end, text: `path(${node.getText()})` })
    }
    if (ts.isExpressionStatement(node)) {
      const [comment] = ts.getTrailingCommentRanges(example, node.end) ?? []
      const said = comment === undefined ? '' : example.slice(comment.pos + 2, comment.end).trim()
      const error = /^throws (\w+)(?:$|:)/.exec(said)?.[1]
      const [before, after] =
        error !== undefined
          ? ['await throws(async () => (', `), '${error}')`]
          : isLiteral(said)
            ? ['same((', `), (${said}))`]
            : ['', '']
      edits.push({ at: node.getStart(), end: node.getStart(), text: before })
      edits.push({ at: node.end, end: node.end, text: after })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  edits.sort((a, b) => b.at - a.at)
  return edits.reduce((text, { at, end, text: by }) => text.slice(0, at) + by + text.slice(end), example)
}

function isLiteral(text: string): boolean {
  const source = ts.createSourceFile(
    'literal.js',
    `(${text})`,
    ts.ScriptTarget.ES2022,
    true,
    ts.ScriptKind.JS,
  )
  const [statement] = source.statements
  if (source.statements.length !== 1 || statement === undefined || !ts.isExpressionStatement(statement))
    return false
  const isPlain = (node: ts.Node): boolean =>
    ts.isParenthesizedExpression(node) ||
    ts.isArrayLiteralExpression(node) ||
    ts.isObjectLiteralExpression(node) ||
    ts.isPrefixUnaryExpression(node)
      ? ts.forEachChild(node, (child) => !isPlain(child) || undefined) === undefined
      : ts.isPropertyAssignment(node)
        ? isPlain(node.initializer)
        : ts.isNumericLiteral(node) ||
          ts.isBigIntLiteral(node) ||
          ts.isStringLiteral(node) ||
          [ts.SyntaxKind.TrueKeyword, ts.SyntaxKind.FalseKeyword, ts.SyntaxKind.NullKeyword].includes(
            node.kind,
          )
  return isPlain(statement.expression)
}
