import type { ConfigProblem } from '#base/config-problem.ts'
import type { Origin } from '#base/origin.ts'

/** Records a problem of one object. */
export type Report = (problem: ConfigProblem) => void

/** Selects the object whose problems are reported. */
export type ReportOn = (object: { readonly origin: Origin }) => Report
