import type { ConfigProblem } from '#base/config-problem.ts'
import type { Origin } from '#base/origin.ts'

/** Takes note of a problem in an object. */
export type Report = (problem: ConfigProblem) => void

/** Takes note of problems in one object. */
export type ReportOn = (object: { readonly origin: Origin }) => Report
