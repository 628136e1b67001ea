import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isCurrent } from '../bin/main.js'
import { escapeWide } from '../build/bundle.mjs'
import { temporaryFolder } from './support/temporary-folder.ts'

test.each<[change: string, make: (sources: string) => void]>([
  ['a file was changed', (sources) => writeFileSync(join(sources, 'room', 'a.ts'), 'changed')],
  ['a file was added', (sources) => writeFileSync(join(sources, 'room', 'b.ts'), '')],
  ['a file was removed', (sources) => rmSync(join(sources, 'room', 'a.ts'))],
  ['a folder was removed', (sources) => rmSync(join(sources, 'room'), { recursive: true })],
])('the source runs when %s since the bundle was made', (_, make) => {
  const folder = temporaryFolder()
  const [bundle, sources] = [join(folder, 'main.js'), join(folder, 'src')]
  mkdirSync(join(sources, 'room'), { recursive: true })
  writeFileSync(join(sources, 'room', 'a.ts'), '')
  expect(isCurrent(bundle, sources)).toBe(false)
  writeFileSync(bundle, '')
  const [before, made] = [new Date(1000), new Date(2000)]
  for (const path of [join(sources, 'room', 'a.ts'), join(sources, 'room'), sources]) utimesSync(path, before, before)
  utimesSync(bundle, made, made)
  expect(isCurrent(bundle, sources)).toBe(true)
  make(sources)
  expect(isCurrent(bundle, sources)).toBe(false)
})

test('characters beyond latin-1 are escaped in the bundle, which does not change texts', () => {
  const escaped = escapeWide('"café → 😀"')
  expect(escaped).toBe('"café \\u2192 \\ud83d\\ude00"')
  expect(JSON.parse(escaped)).toBe('café → 😀')
})
