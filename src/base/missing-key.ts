/** A Secret or ConfigMap that a reference names. */
export interface KeyHolder {
  readonly kind: 'Secret' | 'ConfigMap'
  readonly namespace: string
  readonly name: string
}

/**
 * Why an object cannot be used for a reference that needs certain keys of it, in the words of all outputs: the Secret `default/openai` has no
 * key `Authorization`. Keys are case-sensitive. Undefined: it has them.
 * @param data of the object; undefined: it does not exist
 * @param wanted lists of keys; the object must have one of each list
 */
export function missingKey(
  { kind, namespace, name }: KeyHolder,
  data: Readonly<Record<string, unknown>> | undefined,
  ...wanted: readonly (readonly string[])[]
): string | undefined {
  const title = `the ${kind} \`${namespace}/${name}\``
  if (data === undefined) return `${title} does not exist, or has errors and is not in use`
  const missing = wanted.filter((keys) => !keys.some((key) => data[key] !== undefined))
  if (missing.length === 0) return undefined
  const texts = missing.map((keys) => `no key ${keys.map((key) => `\`${key}\``).join(' or ')}`)
  const similar = Object.keys(data).find((key) =>
    missing.flat().some((each) => each.toLowerCase() === key.toLowerCase()),
  )
  return `${title} has ${texts.join(' and ')}${similar === undefined ? '' : `; rename its key \`${similar}\``}`
}
