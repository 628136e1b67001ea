import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import type { WrittenObject } from '#apiserver/kinds/served-kind.ts'
import { builtInKinds } from '#apiserver/platform-rules/built-in-kinds.ts'

/**
 * Documents of kinds of the platform and of the Gateway API that an API server refuses, by rules that schemas do not have; in a file, the
 * control plane reports what has no effect. Comments before a document are its causes.
 */
const FOLDER = join(import.meta.dirname, 'api-only')
const served = builtInKinds()

interface Case {
  readonly name: string
  readonly text: string
  readonly expected: readonly string[]
}

function casesIn(file: string): readonly Case[] {
  const documents = readFileSync(join(FOLDER, file), 'utf8').split('---\n')
  return documents.map((text, index) => ({
    name: `${file} ${index}`,
    text,
    expected: [...text.matchAll(/^# cause: (.*)$/gm)].map(([, cause]) => cause!),
  }))
}

function causesOf({ text }: Case): readonly string[] {
  const object = parse(text) as WrittenObject
  const version = object.apiVersion.split('/').at(-1)
  const kind = served.find(
    (each) => each.kind === object.kind && each.version === version && isGroup(each.group, object),
  )!
  const { causes } = kind.admit(
    { ...object, metadata: { ...object.metadata, ...(kind.namespaced ? { namespace: 'default' } : {}) } },
    { unknownFields: 'refuse' },
  )
  return causes.map(({ field, message }) => `${field}: ${message}`)
}

function isGroup(group: string, { apiVersion }: WrittenObject): boolean {
  return group === '' ? !apiVersion.includes('/') : apiVersion.startsWith(`${group}/`)
}

const files = globSync('*.yaml', { cwd: FOLDER }).sort()
if (process.env.UPDATE === '1') {
  for (const file of files) {
    const written = casesIn(file).map((each) => {
      const comments = causesOf(each).map((cause) => `# cause: ${cause}\n`)
      return comments.join('') + each.text.replace(/^#.*\n/gm, '')
    })
    writeFileSync(join(FOLDER, file), written.join('---\n'))
  }
}
const cases = files.flatMap(casesIn)

test.each(cases)('$name is refused', (each) => {
  expect(each.expected).not.toEqual([])
  expect(causesOf(each)).toEqual(each.expected)
})

test('each document is refused for its own reason', () => {
  const reasons = cases.map(({ name, expected }) => `${name.split(' ')[0]} ${expected.join(', ')}`)
  expect(reasons.filter((reason, index) => reasons.indexOf(reason) !== index)).toEqual([])
})
