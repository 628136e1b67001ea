import { FileStore } from '#store/files.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { findingLines } from './finding-lines.ts'
import { loadPlan } from './load-plan.ts'

/** Checks objects as a gateway would read them, without running anything. */
export function lint({ file }: { readonly file: readonly string[] }): ExitCode {
  const store = new FileStore(file)
  const { findings } = loadPlan(store)
  const { lines, errors, warnings } = findingLines(store, findings)
  for (const line of lines) console.log(line)
  const objects = store.list().length
  const found =
    errors + warnings === 0 ? 'nothing to report' : `${count(errors, 'error')}, ${count(warnings, 'warning')}`
  console.log(`${count(objects, 'object')}: ${found}`)
  return errors + warnings === 0 ? EXIT.ok : EXIT.findings
}

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`
}
