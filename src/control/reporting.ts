import type { Origin } from '#base/origin.ts'
import type { Report } from './finding-code.ts'

/** Takes note of problems in one object. */
export type ReportOn = (object: { readonly origin: Origin }) => Report
