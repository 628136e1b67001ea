import type { Binding, Block, Call, ComprehensionMacro, Expr } from './ast.ts'
import { print } from './printer.ts'
import type { ProblemList } from './source.ts'

type Draft<E> = E extends Expr ? Omit<E, 'height'> : never
type CallDraft = Omit<Call, 'kind' | 'height'>

export interface Expansion {
  readonly draft: Draft<Expr>
  readonly children: readonly Expr[]
}

/** Argument counts that make a member call a comprehension: variables, then an optional filter, then the body. */
const COMPREHENSIONS: Readonly<
  Record<ComprehensionMacro, Readonly<Record<number, 'x b' | 'x f b' | 'x y b' | 'x y f b'>>>
> = {
  all: { 2: 'x b', 3: 'x y b' },
  exists: { 2: 'x b', 3: 'x y b' },
  exists_one: { 2: 'x b', 3: 'x y b' },
  existsOne: { 2: 'x b', 3: 'x y b' },
  map: { 2: 'x b', 3: 'x f b' },
  filter: { 2: 'x b' },
  transformList: { 3: 'x y b', 4: 'x y f b' },
  transformMap: { 3: 'x y b', 4: 'x y f b' },
  transformMapEntry: { 3: 'x y b', 4: 'x y f b' },
  mapValues: { 2: 'x b' },
  filterKeys: { 2: 'x b' },
  sortBy: { 2: 'x b' },
}

const BINDS: Readonly<Record<string, 'with' | 'optMap' | 'optFlatMap'>> = {
  with: 'with',
  optMap: 'optMap',
  optFlatMap: 'optFlatMap',
}

/** @returns undefined for an ordinary call */
export function expandMacro(call: CallDraft, problems: ProblemList): Expansion | undefined {
  if (call.target === undefined) return call.name === 'has' ? expandHas(call, problems) : undefined
  if (Object.hasOwn(COMPREHENSIONS, call.name)) return expandComprehension(call, call.target, problems)
  const bind = Object.hasOwn(BINDS, call.name) ? BINDS[call.name] : undefined
  if (bind !== undefined && call.args.length === 2) {
    return expandBind(bind, call, call.args[0]!, call.target, call.args[1]!, problems)
  }
  const isCel = call.target.kind === 'ident' && call.target.name === 'cel'
  return isCel ? expandCelNamespace(call, problems) : undefined
}

function rangeOf(call: CallDraft): { start: number; end: number } {
  return { start: call.start, end: call.end }
}

function bad(call: CallDraft): Expansion {
  return { draft: { kind: 'bad', ...rangeOf(call) }, children: [] }
}

function expandHas(call: CallDraft, problems: ProblemList): Expansion | undefined {
  const argument = call.args[0]
  if (call.args.length !== 1 || argument === undefined) {
    problems.error('macro', call, 'has() takes one member selection, such as has(a.b)')
    return bad(call)
  }
  if (argument.kind === 'bad') return bad(call)
  if (argument.kind !== 'select') {
    const instead = membershipFor(argument)
    const range = instead === undefined ? argument : call
    problems.error('macro', range, 'has() takes a member selection, such as has(a.b)', instead)
    return bad(call)
  }
  const { operand, field, optional } = argument
  return { draft: { kind: 'has', operand, field, optional, ...rangeOf(call) }, children: [operand] }
}

/** The suggestion `"key" in map` for `map["key"]`, unless it would be too long. */
function membershipFor(expr: Expr): string | undefined {
  if (expr.kind !== 'index' || expr.end - expr.start > 200) return undefined
  return `${print(expr.index)} in ${print(expr.operand)}`
}

function expandComprehension(call: CallDraft, range: Expr, problems: ProblemList): Expansion | undefined {
  const macro = call.name as ComprehensionMacro
  const form = COMPREHENSIONS[macro][call.args.length]
  if (form === undefined) return undefined
  const names = form.startsWith('x y') ? 2 : 1
  const variables: Binding[] = []
  for (const argument of call.args.slice(0, names)) {
    const variable = readBinding(argument, problems)
    if (variable === undefined) return bad(call)
    variables.push(variable)
  }
  const [first, second] = variables
  if (second !== undefined && first!.name === second.name) {
    problems.error('macro', second, `the two variables of ${macro}() need different names`)
    return bad(call)
  }
  const filter = form.endsWith('f b') ? call.args[names] : undefined
  const body = call.args[call.args.length - 1]!
  const children = filter === undefined ? [range, body] : [range, filter, body]
  return { draft: { kind: 'comprehension', macro, range, variables, filter, body, ...rangeOf(call) }, children }
}

function expandBind(
  macro: 'bind' | 'with' | 'optMap' | 'optFlatMap',
  call: CallDraft,
  name: Expr,
  value: Expr,
  body: Expr,
  problems: ProblemList,
): Expansion {
  const variable = readBinding(name, problems)
  if (variable === undefined) return bad(call)
  return { draft: { kind: 'bind', macro, variable, value, body, ...rangeOf(call) }, children: [value, body] }
}

/** `cel.bind`, and forms that optimisers produce for shared subexpressions: `cel.block`, `cel.index`, `cel.iterVar`, `cel.accuVar`. */
function expandCelNamespace(call: CallDraft, problems: ProblemList): Expansion | undefined {
  const [first, second, third] = call.args
  if (call.name === 'bind' && first && second && third && call.args.length === 3) {
    return expandBind('bind', call, first, second, third, problems)
  }
  if (call.name === 'block' && first && second && call.args.length === 2)
    return expandBlock(call, first, second, problems)
  if (call.name === 'index' && call.args.length === 1) return slotName(call, '@index', call.args, problems)
  if ((call.name === 'iterVar' || call.name === 'accuVar') && call.args.length === 2) {
    return slotName(call, call.name === 'iterVar' ? '@it' : '@ac', call.args, problems)
  }
  return undefined
}

function expandBlock(call: CallDraft, slots: Expr, body: Expr, problems: ProblemList): Expansion {
  if (slots.kind !== 'list' || slots.elements.some((element) => element.optional)) {
    problems.error('macro', slots, 'cel.block() takes a list of expressions first')
    return bad(call)
  }
  const values = slots.elements.map((element) => element.value)
  const draft: Draft<Block> = { kind: 'block', slots: values, body, ...rangeOf(call) }
  return { draft, children: [...values, body] }
}

function slotName(call: CallDraft, prefix: string, args: readonly Expr[], problems: ProblemList): Expansion {
  const numbers = args.map((arg) => (arg.kind === 'literal' ? arg.value : undefined))
  if (!numbers.every((number) => typeof number === 'number' && number >= 0)) {
    problems.error('macro', call, `cel.${call.name}() takes whole numbers`)
    return bad(call)
  }
  return {
    draft: { kind: 'ident', name: [prefix, ...numbers].join(':'), absolute: false, ...rangeOf(call) },
    children: [],
  }
}

/** Other implementations use this name inside macros; it is refused so that expressions are portable. */
const RESERVED_VARIABLE = '__result__'

function readBinding(expr: Expr, problems: ProblemList): Binding | undefined {
  if (expr.kind === 'ident' && expr.name === RESERVED_VARIABLE) {
    problems.error('macro', expr, `${RESERVED_VARIABLE} is a reserved name`)
    return undefined
  }
  if (expr.kind === 'ident' && !expr.absolute) return { name: expr.name, start: expr.start, end: expr.end }
  if (expr.kind !== 'bad') problems.error('macro', expr, 'expected a plain variable name here')
  return undefined
}
