import { randomBytes } from 'node:crypto'
import type { StateFolder } from './state-folder.ts'

const FILE = 'admin-token'
const TOKEN_BYTES = 32

/**
 * The token of the state folder that changing calls of the admin server need: that of the last start, or a new one. Without a folder that can be
 * written, only this process knows it, so that such calls are refused.
 */
export function loadAdminToken(state: StateFolder | undefined): string {
  const known = state?.read(FILE, (text) => text.trim()) ?? ''
  if (known !== '') return known
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  state?.write(FILE, `${token}\n`)
  return token
}
