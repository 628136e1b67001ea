import type { Budget } from './budget.ts'
import { noSuchOverload } from './error.ts'
import { ContextMap, type MemberReader } from './map-value.ts'
import { define, type Overload } from './overload.ts'
import { parseType } from './parse-type.ts'
import { DYN, type MapType, STRING, type Type } from './type.ts'
import type { HostObject, Result, Value } from './value.ts'

/** A variable of expressions. */
export interface Variable<C> {
  /** Dotted: `request.method`. The parts before the last dot need no declaration. */
  readonly path: string
  /** A CEL type as text (`string`, `map(string, dyn)`, `wrapper(string)` if it may be null, the name of a `HostType`), or as an object. */
  readonly type: string | Type
  /** The value is present and not null in every evaluation, so reading it cannot fail. */
  readonly always?: boolean
  /** Called only if the evaluation reads the value. `undefined`: absent, so the error is `no such key`. */
  readonly read: (context: C) => Result | undefined
  /** For `path["key"]` and `path.key`: reads one member without creating the value of `read`. `undefined`: absent. */
  readonly index?: (context: C, key: string) => Result | undefined
  /** Called at compile time for a constant key, to create a faster reader than `index`. Requires `index`. */
  readonly prepareIndex?: (key: string) => (context: C) => Result | undefined
  /** Why the value, a string, never is a constant text, or never begins with it. Called at compile time, for warnings. */
  readonly misfit?: (text: string, part: 'whole' | 'prefix') => Misfit | undefined
}

/** Why a variable never has a text. */
export interface Misfit {
  /** Completes "request.path is never ...: ". */
  readonly why: string
  /** The text that was probably meant. */
  readonly instead?: string
  /** What to write, if it is not a text. */
  readonly write?: string
}

/** A variable that is available only in other environments; the reason completes "x is not available here: ...". */
export interface UnavailableVariable {
  readonly path: string
  readonly unavailable: string
}

/** The type of a `HostObject` for the checker. */
export interface HostType {
  readonly name: string
  /** Members with their types, as text; names are lower case with `foldsCase`. */
  readonly members?: Readonly<Record<string, string>>
  /** The type of `x["key"]` and of unlisted members; without it only `members` exist. */
  readonly element?: string
  /** Names of members are case-insensitive. */
  readonly foldsCase?: boolean
  /** Method signatures without the receiver: `join() -> headers`, `cookie(string) -> string`. */
  readonly methods?: readonly string[]
}

/** Types that are neither built in nor declared one by one: protobuf messages and enums. */
export interface TypeProvider {
  /** The type with a qualified name. */
  findType(name: string): Type | undefined
  /** A named constant, such as an enum value. */
  findConstant(name: string): { readonly type: Type; readonly value: Value } | undefined
  findField(typeName: string, field: string): Type | undefined
  fieldNames(typeName: string): Iterable<string>
  /** Functions named after types: conversions to enums. */
  findFunction?(name: string): readonly Overload[] | undefined
  construct(typeName: string, fields: readonly (readonly [string, Value])[]): Result
}

export interface EnvironmentOptions<C> {
  readonly variables?: readonly (Variable<C> | UnavailableVariable)[]
  /** In addition to the library; a function may add overloads to a library function. */
  readonly functions?: readonly Overload[]
  readonly types?: readonly HostType[]
  readonly provider?: TypeProvider
  /** Names are looked up in this namespace first. */
  readonly container?: string
  /** Paths that users of other languages write, with those that they mean. */
  readonly meanings?: ReadonlyMap<string, string>
  /** The budget of the evaluations of a context; by default each evaluation has its own. */
  readonly budgetOf?: (context: C) => Budget
}

/** A node of the tree of declared paths. */
export interface VariableNode<C> {
  readonly path: string
  readonly variable: (Variable<C> & { readonly type: Type }) | undefined
  readonly unavailable: string | undefined
  readonly children: ReadonlyMap<string, VariableNode<C>>
  /** The type of this node if it has no declaration. */
  readonly rootType: MapType
  /** Readers of the children, for the value of the root as a map. */
  readonly readers: ReadonlyMap<string, MemberReader<C>>
}

/** The variables, functions and types for the expressions of one context. Created once. */
export interface Environment<C> {
  readonly root: VariableNode<C>
  readonly functions: ReadonlyMap<string, readonly Overload[]>
  readonly hostTypes: ReadonlyMap<string, HostTypeInfo>
  readonly provider: TypeProvider | undefined
  readonly container: string
  readonly meanings: ReadonlyMap<string, string>
  readonly budgetOf: ((context: C) => Budget) | undefined
}

export interface HostTypeInfo {
  readonly members: ReadonlyMap<string, Type>
  /** The type of an unlisted member. */
  readonly element: Type | undefined
  /** The type of a member whose name is computed. */
  readonly anyMember: Type
  memberType(name: string): Type | undefined
}

/** @throws Error if declarations contradict each other or a type is invalid: declarations are code */
export function createEnvironment<C>(
  library: ReadonlyMap<string, readonly Overload[]>,
  options: EnvironmentOptions<C>,
): Environment<C> {
  const types = options.types ?? []
  return {
    root: buildVariableTree(options.variables ?? []),
    functions: addOverloads(library, [...types.flatMap(methodsOf), ...(options.functions ?? [])]),
    hostTypes: new Map(types.map((type) => [type.name, hostTypeInfo(type)])),
    provider: options.provider,
    container: options.container ?? '',
    meanings: options.meanings ?? new Map(),
    budgetOf: options.budgetOf,
  }
}

/** Returns a table with more overloads; the given table does not change. */
export function addOverloads(
  table: ReadonlyMap<string, readonly Overload[]>,
  overloads: readonly Overload[],
): ReadonlyMap<string, readonly Overload[]> {
  if (overloads.length === 0) return table
  const result = new Map(table)
  for (const overload of overloads) result.set(overload.name, [...(result.get(overload.name) ?? []), overload])
  return result
}

interface VariableNodeBuilder<C> {
  path: string
  variable: (Variable<C> & { readonly type: Type }) | undefined
  unavailable: string | undefined
  children: Map<string, VariableNodeBuilder<C>>
  rootType: MapType
  readers: Map<string, MemberReader<C>>
}

function newNode<C>(path: string): VariableNodeBuilder<C> {
  const children = new Map<string, VariableNodeBuilder<C>>()
  const rootType: MapType = {
    kind: 'map',
    key: STRING,
    value: DYN,
    members: { path, names: () => children.keys(), typeOf: (name) => nodeType(children.get(name)) },
  }
  return { path, variable: undefined, unavailable: undefined, children, rootType, readers: new Map() }
}

/** The type of a declared path, or of a parent of declared paths. */
function nodeType<C>(node: VariableNodeBuilder<C> | undefined): Type | undefined {
  return node === undefined || node.unavailable !== undefined ? undefined : (node.variable?.type ?? node.rootType)
}

function buildVariableTree<C>(variables: readonly (Variable<C> | UnavailableVariable)[]): VariableNode<C> {
  const root = newNode<C>('')
  for (const declared of variables) {
    const node = descend(root, declared.path)
    if (node.variable !== undefined || node.unavailable !== undefined) {
      throw new Error(`CEL variable ${declared.path} is declared twice`)
    }
    if ('unavailable' in declared) node.unavailable = declared.unavailable
    else
      node.variable = {
        ...declared,
        type: typeof declared.type === 'string' ? parseType(declared.type) : declared.type,
      }
  }
  addReaders(root)
  return root
}

function descend<C>(root: VariableNodeBuilder<C>, path: string): VariableNodeBuilder<C> {
  let node = root
  for (const name of path.split('.')) {
    let child = node.children.get(name)
    if (child === undefined) {
      child = newNode(node.path === '' ? name : `${node.path}.${name}`)
      node.children.set(name, child)
    }
    node = child
  }
  return node
}

function addReaders<C>(node: VariableNodeBuilder<C>): void {
  for (const [name, child] of node.children) {
    addReaders(child)
    const reader = readerOf(child)
    if (reader !== undefined) node.readers.set(name, reader)
  }
}

function readerOf<C>(node: VariableNodeBuilder<C>): MemberReader<C> | undefined {
  if (node.variable !== undefined) return node.variable.read
  if (node.readers.size === 0) return undefined
  const { readers } = node
  return (context) => new ContextMap(readers, context)
}

function hostTypeInfo(type: HostType): HostTypeInfo {
  const members = new Map(Object.entries(type.members ?? {}).map(([name, text]) => [name, parseType(text)]))
  const element = type.element === undefined ? undefined : parseType(type.element)
  const keyOf = (name: string) => (type.foldsCase === true ? name.toLowerCase() : name)
  return {
    members,
    element,
    anyMember: members.size === 0 ? (element ?? DYN) : DYN,
    memberType: (name) => members.get(keyOf(name)) ?? element,
  }
}

function methodsOf(type: HostType): Overload[] {
  const size = (target: HostObject): number => [...target.keys()].length
  const sizes = [`size(${type.name}) -> int`, `(${type.name}).size() -> int`].map((text) => define(text, size))
  const methods = (type.methods ?? []).map((text) => {
    const name = /^[\w.]+/.exec(text)![0]
    const failed = noSuchOverload(`${type.name}.${name}`)
    const call = (target: HostObject, ...args: Value[]): Result => target.call(name, args) ?? failed
    return define(`(${type.name}).${text}`, call, { pure: false })
  })
  return type.element === undefined ? methods : [...sizes, ...methods]
}
