import { registerHooks } from 'node:module'

// What a gateway of a scenario loads before all else, in every thread: the text of the mutant takes the place of its file (runner.ts).

const { MUTANT_URL, MUTANT_TEXT } = process.env

registerHooks({
  load: (url, context, next) =>
    url === MUTANT_URL ? { format: 'module-typescript', source: MUTANT_TEXT, shortCircuit: true } : next(url, context),
})
