import type { FieldType } from './field-type.ts'
import { isMembers, ownMember } from './members.ts'
import { describePath, itemElements, memberElement, type PathElement } from './path-element.ts'

/** Why applied configuration cannot be merged: values of another type, unknown fields, repeated or nameless items. Messages with paths. */
export function checkFields(type: FieldType, object: unknown): readonly string[] {
  const problems: string[] = []
  check(type, object, [], problems)
  return problems
}

function check(type: FieldType, value: unknown, path: readonly PathElement[], problems: string[]): void {
  if (value === null || value === undefined) return
  if (Array.isArray(value)) checkItems(type, value, path, problems)
  else if (isMembers(value)) checkMembers(type, value, path, problems)
  else if (!allows(type, value))
    problems.push(refusal(path, `expected ${expected(type)}, got ${JSON.stringify(value)}`))
}

function checkMembers(type: FieldType, value: object, path: readonly PathElement[], problems: string[]): void {
  const { map } = type
  if (map === undefined) return void problems.push(refusal(path, `expected ${expected(type)}, got an object`))
  for (const [name, member] of Object.entries(value)) {
    const field = ownMember(map.fields, name) ?? map.others
    const below = [...path, memberElement(name)]
    if (field === undefined) problems.push(refusal(below, 'field not declared in schema'))
    else check(field, member, below, problems)
  }
}

function checkItems(
  type: FieldType,
  value: readonly unknown[],
  path: readonly PathElement[],
  problems: string[],
): void {
  const { list } = type
  if (list === undefined) return void problems.push(refusal(path, `expected ${expected(type)}, got a list`))
  const elements = list.atomic ? value.map((_, index) => `i:${index}`) : itemElements(list, value)
  if (elements === undefined) {
    const kind =
      list.keys.length === 0 ? 'a set whose items must be scalars' : `a list whose items need ${list.keys.join(' or ')}`
    return void problems.push(refusal(path, `an item cannot be identified in ${kind}`))
  }
  elements.forEach((element, index) => {
    if (elements.indexOf(element) < index)
      problems.push(refusal(path, `duplicate entries for key ${describePath([element])}`))
    check(list.items, value[index], [...path, element], problems)
  })
}

function allows({ scalar }: FieldType, value: unknown): boolean {
  return scalar === 'any' || scalar === typeof value
}

function expected({ scalar, list, map }: FieldType): string {
  if (scalar !== undefined) return scalar === 'any' ? 'any scalar' : scalar
  return map !== undefined ? 'map' : list !== undefined ? 'list' : 'nothing'
}

function refusal(path: readonly PathElement[], message: string): string {
  return path.length === 0 ? message : `${describePath(path)}: ${message}`
}
