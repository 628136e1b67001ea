import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { checkStatePath } from './state-path.ts'

const root = mkdtempSync(join(tmpdir(), 'state-path-'))
mkdirSync(join(root, 'conf', 'inner'), { recursive: true })
symlinkSync(join(root, 'conf'), join(root, 'link'))
afterAll(() => rmSync(root, { recursive: true }))

test.each([
  ['conf', true],
  ['conf/state', true],
  ['conf/inner/not/yet', true],
  ['link/state', true],
  ['conf/.state', false],
  ['conf/.state/more', false],
  ['state', false],
  ['conf-state', false],
  ['.', false],
])('state in %s: refused %s', (state, isRefused) => {
  const check = () => checkStatePath(join(root, state), [join(root, 'conf')])
  if (!isRefused) return check()
  expect(check).toThrow(
    `--state ${join(root, state)} is in ${join(root, 'conf')}, where its files would be read as objects; use another folder, or one whose name begins with a dot`,
  )
})

test('a single file contains no folder', () => {
  checkStatePath(join(root, 'state'), [join(root, 'conf', 'gateway.yaml')])
})
