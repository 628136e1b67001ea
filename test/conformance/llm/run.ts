/** Holds every body that the translations write against the types that the vendors publish for Python. See README.md. */
import { join } from 'node:path'
import { askProgram, installedPythonPackages } from '#test/interop/counterparts.ts'
import { VENDOR_PACKAGES } from '#test/interop/llm/python-packages.ts'
import { writtenBodies } from './bodies.ts'
import { EXTENSIONS } from './extensions.ts'

interface Report {
  readonly counts: Readonly<Record<string, number>>
  readonly problems: readonly { readonly name: string; readonly kind: string; readonly problem: string }[]
  /** How often each extension was found. */
  readonly used: readonly number[]
}

const python = installedPythonPackages('python-llm-types', ...VENDOR_PACKAGES, 'botocore==1.44.5', 'jsonschema==4.26.0')
const question = { bodies: [...writtenBodies()], extensions: EXTENSIONS }
const report = askProgram(python, ['-B', join(import.meta.dirname, 'validate.py')], question) as Report

for (const { name, kind, problem } of report.problems) console.log(`FAIL ${kind}: ${name}\n     ${problem}`)
for (const [kind, count] of Object.entries(report.counts)) console.log(`${String(count).padStart(6)} ${kind}`)
console.log('Members that the types do not have:')
for (const [index, { of, path, reason }] of EXTENSIONS.entries()) {
  console.log(`${String(report.used[index]).padStart(6)} ${of}: ${path}: ${reason}`)
}
const unused = report.used.filter((count) => count === 0).length
console.log(
  `${question.bodies.length} bodies, ${report.problems.length} problems, ${unused} extensions that nothing writes`,
)
process.exitCode = report.problems.length + unused > 0 ? 1 : 0
