import type { Finding } from '#base/finding.ts'
import type { Origin } from '#base/origin.ts'
import type { Report } from './finding-code.ts'

/** Takes note of problems in one object. */
export type ReportOn = (object: { readonly origin: Origin }) => Report

/** Collects findings, in the order in which they are found. */
export function collectFindings(findings: Finding[]): ReportOn {
  return ({ origin }) =>
    (problem) =>
      void findings.push({ origin, ...problem })
}
