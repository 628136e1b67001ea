import { statSync } from 'node:fs'

/** Changes when the content of a file changes, or another file takes its place. @throws if there is no such file */
export function signatureOf(file: string): string {
  const { ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true })
  return [ino, size, mtimeNs, ctimeNs].join(' ')
}
