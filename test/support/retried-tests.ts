import type { Reporter, TestCase, TestModule } from 'vitest/node'

/** Names the tests that failed and then passed, with the failure: each is a test to mend. */
export class RetriedTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const retried = modules.flatMap(({ children }) => [...children.allTests('passed')]).filter(wasRetried)
    for (const test of retried) {
      const [first] = test.result().errors ?? []
      process.stderr.write(`failed once, then passed: ${test.module.relativeModuleId} > ${test.fullName}\n`)
      process.stderr.write(`  ${first?.stack ?? first?.message ?? 'no message'}\n`)
    }
  }
}

function wasRetried(test: TestCase): boolean {
  return (test.diagnostic()?.retryCount ?? 0) > 0
}
