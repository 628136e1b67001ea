import { DYN, isExactType, type Type } from '../type.ts'

/**
 * Bindings of type parameters, with a journal to roll back attempts. The rules are those of the language definition, section "Gradual Type
 * Checking", with its unification of parameters.
 */
export class Substitution {
  readonly #types = new Map<string, Type>()
  readonly #journal: (readonly [name: string, before: Type | undefined])[] = []

  find(name: string): Type | undefined {
    return this.#types.get(name)
  }

  bind(name: string, type: Type): void {
    this.#journal.push([name, this.#types.get(name)])
    this.#types.set(name, type)
  }

  /** A position for `rollBack`. */
  mark(): number {
    return this.#journal.length
  }

  rollBack(mark: number): void {
    while (this.#journal.length > mark) {
      const [name, before] = this.#journal.pop()!
      if (before === undefined) this.#types.delete(name)
      else this.#types.set(name, before)
    }
  }

  /** The type with parameters replaced; with `close`, unbound ones become `dyn`. */
  apply(type: Type, close = false): Type {
    switch (type.kind) {
      case 'param': {
        const bound = this.#types.get(type.name)
        return bound === undefined ? (close ? DYN : type) : this.apply(bound, close)
      }
      case 'list':
        return { kind: 'list', element: this.apply(type.element, close) }
      case 'map':
        return { ...type, key: this.apply(type.key, close), value: this.apply(type.value, close) }
      case 'type':
        return type.of === undefined ? type : { kind: 'type', of: this.apply(type.of, close) }
      case 'opaque':
        return { ...type, params: type.params.map((param) => this.apply(param, close)) }
      default:
        return type
    }
  }
}

/** Assigns each `from` to its `to`. @returns whether all are assignable; if not, no binding changes */
export function assignAll(substitution: Substitution, from: readonly Type[], to: readonly Type[]): boolean {
  if (from.length !== to.length) return false
  const mark = substitution.mark()
  const fits = from.every((type, i) => isAssignable(substitution, type, to[i]!))
  if (!fits) substitution.rollBack(mark)
  return fits
}

function isAssignable(substitution: Substitution, a: Type, b: Type): boolean {
  if (b.kind === 'param') {
    const outcome = bindParameter(substitution, b.name, a, b)
    if (outcome === 'fits') return true
    if (outcome === 'clashes') return false
  }
  if (a.kind === 'param') return bindParameter(substitution, a.name, b, a) === 'fits'
  if (isWild(a) || isWild(b)) return true
  if (a.kind === 'null') return isNullable(b)
  if (b.kind === 'null') return isNullable(a)
  return isStructurallyAssignable(substitution, a, b)
}

function isWild(type: Type): boolean {
  return type.kind === 'dyn' || type.kind === 'any' || type.kind === 'error'
}

function isNullable(type: Type): boolean {
  switch (type.kind) {
    case 'null':
    case 'wrapper':
    case 'object':
    case 'opaque':
    case 'timestamp':
    case 'duration':
      return true
    default:
      return false
  }
}

function isStructurallyAssignable(substitution: Substitution, a: Type, b: Type): boolean {
  if (a.kind === 'wrapper') return isExactType(a.of, b.kind === 'wrapper' ? b.of : b)
  if (b.kind === 'wrapper') return isExactType(a, b.of)
  if (a.kind === 'list' && b.kind === 'list') return isAssignable(substitution, a.element, b.element)
  if (a.kind === 'map' && b.kind === 'map') {
    return isAssignable(substitution, a.key, b.key) && isAssignable(substitution, a.value, b.value)
  }
  if (a.kind === 'type') return b.kind === 'type'
  if (a.kind === 'opaque' && b.kind === 'opaque') {
    if (a.name !== b.name || a.params.length !== b.params.length) return false
    return a.params.every((param, i) => isAssignable(substitution, param, b.params[i]!))
  }
  return isExactType(a, b)
}

function bindParameter(substitution: Substitution, name: string, type: Type, param: Type): 'fits' | 'clashes' | 'open' {
  if (isExactType(type, param)) return 'fits'
  const bound = substitution.find(name)
  if (bound !== undefined) {
    if (!isAssignable(substitution, type, bound)) return 'clashes'
    const general = moreGeneral(type, bound)
    if (!mentions(substitution, general, name)) substitution.bind(name, general)
    return 'fits'
  }
  if (mentions(substitution, type, name)) return 'open'
  substitution.bind(name, type)
  return 'fits'
}

/** Whether a type contains a parameter: binding the parameter to it would be circular. */
function mentions(substitution: Substitution, type: Type, name: string): boolean {
  switch (type.kind) {
    case 'param': {
      if (type.name === name) return true
      const bound = substitution.find(type.name)
      return bound !== undefined && mentions(substitution, bound, name)
    }
    case 'list':
      return mentions(substitution, type.element, name)
    case 'map':
      return mentions(substitution, type.key, name) || mentions(substitution, type.value, name)
    case 'type':
      return type.of !== undefined && mentions(substitution, type.of, name)
    case 'opaque':
      return type.params.some((param) => mentions(substitution, param, name))
    default:
      return false
  }
}

/** The more general of two compatible types. */
export function moreGeneral(a: Type, b: Type): Type {
  return saysNoMore(a, b) ? a : b
}

function saysNoMore(a: Type, b: Type): boolean {
  if (isWild(a) || a.kind === 'param') return true
  if (isWild(b) || b.kind === 'param') return false
  if (a.kind === 'null') return false
  if (b.kind === 'null' || b.kind === 'wrapper') return b.kind === 'null' || (a.kind === 'wrapper' && isExactType(a, b))
  if (a.kind === 'wrapper') return true
  if (a.kind === 'list' && b.kind === 'list') return saysNoMore(a.element, b.element)
  if (a.kind === 'map' && b.kind === 'map') return saysNoMore(a.key, b.key) && saysNoMore(a.value, b.value)
  if (a.kind === 'type' && b.kind === 'type') return true
  if (a.kind === 'opaque' && b.kind === 'opaque') {
    return (
      a.name === b.name &&
      a.params.length === b.params.length &&
      a.params.every((param, i) => saysNoMore(param, b.params[i]!))
    )
  }
  return isExactType(a, b)
}
