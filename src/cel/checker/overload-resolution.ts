import { acceptsCount, type Overload, paramsFor } from '../overload.ts'
import type { Signature } from '../parse-type.ts'
import { DYN, isExactType, type Type } from '../type.ts'
import { assignAll, type Substitution } from './assignability.ts'

export interface Resolved<S> {
  readonly chosen: readonly S[]
  readonly result: Type
}

/** Finds the applicable overloads and the result type: `dyn` if they have different result types. */
export function resolveOverloads(
  overloads: readonly Overload[],
  args: readonly Type[],
  substitution: Substitution,
  freshName: () => string,
): Resolved<Overload> | undefined {
  const candidates = overloads
    .filter((overload) => acceptsCount(overload, args.length))
    .map((overload) => ({ of: overload, params: paramsFor(overload, args.length), result: overload.result }))
  return resolve(candidates, args, substitution, freshName, (overload) => overload.fallback)
}

/** The same for operators, which have only signatures. */
export function resolveSignatures(
  signatures: readonly Signature[],
  args: readonly Type[],
  substitution: Substitution,
  freshName: () => string,
): Resolved<Signature> | undefined {
  const candidates = signatures.map((signature) => ({
    of: signature,
    params: signature.params,
    result: signature.result,
  }))
  return resolve(candidates, args, substitution, freshName, () => false)
}

interface Candidate<S> {
  readonly of: S
  readonly params: readonly Type[]
  readonly result: Type
}

function resolve<S>(
  candidates: readonly Candidate<S>[],
  args: readonly Type[],
  substitution: Substitution,
  freshName: () => string,
  isFallback: (of: S) => boolean,
): Resolved<S> | undefined {
  const chosen: S[] = []
  let result: Type | undefined
  for (const candidate of candidates) {
    const fresh = renameParameters(candidate, freshName)
    if (!assignAll(substitution, args, fresh.params)) continue
    chosen.push(candidate.of)
    const type = substitution.apply(fresh.result)
    if (result === undefined) result = type
    else if (!isFallback(candidate.of) && !isExactType(result, type)) result = DYN
  }
  return result === undefined ? undefined : { chosen, result }
}

/** Renames the type parameters, so that every use of a generic signature has its own. */
function renameParameters<S>(candidate: Candidate<S>, freshName: () => string): Candidate<S> {
  const names = new Map<string, Type>()
  const rename = (type: Type): Type => {
    switch (type.kind) {
      case 'param': {
        const known = names.get(type.name)
        if (known !== undefined) return known
        const fresh: Type = { kind: 'param', name: freshName() }
        names.set(type.name, fresh)
        return fresh
      }
      case 'list':
        return { kind: 'list', element: rename(type.element) }
      case 'map':
        return { ...type, key: rename(type.key), value: rename(type.value) }
      case 'type':
        return type.of === undefined ? type : { kind: 'type', of: rename(type.of) }
      case 'opaque':
        return { ...type, params: type.params.map(rename) }
      default:
        return type
    }
  }
  return { of: candidate.of, params: candidate.params.map(rename), result: rename(candidate.result) }
}
