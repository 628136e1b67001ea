import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { loadAdminToken } from './admin-token.ts'
import { StateFolder } from './state-folder.ts'

test('the token is kept in the state folder, readable by its owner only', async () => {
  const folder = await temporaryFolder()
  const state = new StateFolder(folder, true, () => {})
  const token = loadAdminToken(state)
  expect(token).toMatch(/^[\w-]{43}$/)
  const file = join(folder, 'admin-token')
  expect(readFileSync(file, 'utf8')).toBe(`${token}\n`)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(loadAdminToken(state)).toBe(token)
  writeFileSync(file, '\n')
  expect(loadAdminToken(state)).not.toBe(token)
})

test('without a state folder, each start has a token that only the process knows', () => {
  expect(loadAdminToken(undefined)).not.toBe(loadAdminToken(undefined))
})
