import { chmodSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { REDACTED } from '#base/credential-names.ts'
import { KnownSecrets } from '#base/known-secrets.ts'
import { findFiles } from '#store/find-files.ts'
import { fixText, type MadeFix, secretsInText } from '#store/fix-text.ts'
import { UsageError } from '../usage-error.ts'

/** A correction in a file. */
export interface FileFix extends MadeFix {
  readonly file: string
}

export interface FixedFiles {
  readonly fixes: readonly FileFix[]
  /** The files are unchanged. */
  readonly dryRun: boolean
  /** The changes as a unified diff, as lines. */
  readonly diff: readonly string[]
}

/**
 * Corrects the certain mistakes in files and in folders with objects. Files that cannot be read are left to `lint`.
 * @throws UsageError if a file cannot be written
 */
export function fixFiles(paths: readonly string[], { dryRun }: { readonly dryRun: boolean }): FixedFiles {
  const changed = findFiles(paths).files.flatMap((file) => {
    const before = readFile(file)
    if (before === undefined) return []
    const { text, fixes } = fixText(before)
    if (text === before) return []
    if (!dryRun) replaceFile(file, text)
    return [{ fixes: fixes.map((fix) => ({ ...fix, file })), diff: diffOf(file, before, text) }]
  })
  return { dryRun, fixes: changed.flatMap(({ fixes }) => fixes), diff: changed.flatMap(({ diff }) => diff) }
}

/** Undefined for other than UTF-8: a decoded text would not be what is written. */
function readFile(file: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file))
  } catch {
    return undefined
  }
}

/** A reader sees either the old or the new content. Links stay links. */
function replaceFile(file: string, text: string): void {
  try {
    const real = realpathSync(file)
    const draft = `${real}.${process.pid}.fixed`
    try {
      writeFileSync(draft, text, { mode: 0o600, flag: 'wx' })
      chmodSync(draft, statSync(real).mode)
      renameSync(draft, real)
    } finally {
      rmSync(draft, { force: true })
    }
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${(error as Error).message}`)
  }
}

/** A unified diff of the changed lines. The texts have the same number of lines. Secrets are hidden, so it is for readers. */
function diffOf(file: string, before: string, after: string): readonly string[] {
  const hidden = [before, after].map(secretsInText)
  // A secret in a misspelt field is known by its place in the corrected text.
  const secrets = new KnownSecrets(hidden.flatMap(({ values }) => values))
  const show = (line: string, index: number) =>
    hidden.some(({ lines }) => lines.has(index + 1)) ? REDACTED : secrets.hide(line)
  const [oldText, newText] = [before.split('\n'), after.split('\n')]
  const [old, now] = [oldText.map(show), newText.map(show)]
  const diff = [`--- ${file}`, `+++ ${file}`]
  for (let start = 0; start < old.length; start++) {
    let end = start
    while (end < old.length && oldText[end] !== newText[end]) end++
    if (end === start) continue
    const size = end - start === 1 ? '' : `,${end - start}`
    diff.push(`@@ -${start + 1}${size} +${start + 1}${size} @@`)
    diff.push(...old.slice(start, end).map((line) => `-${line}`), ...now.slice(start, end).map((line) => `+${line}`))
    start = end
  }
  return diff
}
