import { registerHooks } from 'node:module'

// What a gateway of a scenario loads before all else, in every thread: the text of the mutant takes the place of its file (runner.ts).

const { MUTANT_URL, MUTANT_TEXT } = process.env

const BUNDLE = new URL('../../dist/main.js', import.meta.url).href

registerHooks({
  load: (url, context, next) => {
    if (url === MUTANT_URL) return { format: 'module-typescript', source: MUTANT_TEXT, shortCircuit: true }
    // The gateway runs from its source, where the file is.
    if (url === BUNDLE) return { format: 'module', source: "import '../src/main.ts'", shortCircuit: true }
    return next(url, context)
  },
})
