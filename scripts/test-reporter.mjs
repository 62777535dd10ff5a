// Counts test results for the last line of `npm test` and prints why tests were skipped.
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'

/** A test file that fails to load and an error outside of any test each count as one failure. */
function count(modules, unhandledErrors) {
  const counts = { passed: 0, failed: unhandledErrors.length, skipped: [] }
  for (const module of modules) {
    let failed = 0
    for (const test of module.children.allTests()) {
      const result = test.result()
      if (result.state === 'passed') counts.passed += 1
      else if (result.state === 'skipped') counts.skipped.push({ module, test, note: result.note })
      else failed += 1
    }
    if (failed === 0 && module.state() === 'failed') failed = 1
    counts.failed += failed
  }
  return counts
}

export default function createReporter() {
  return {
    onTestRunEnd(modules, unhandledErrors) {
      const { passed, failed, skipped } = count(modules, unhandledErrors)
      for (const { module, test, note } of skipped) {
        console.log(
          `skipped: ${relative(process.cwd(), module.moduleId)} > ${test.fullName}: ${note ?? 'no reason given'}`,
        )
      }
      const file = process.env.TEST_SUMMARY_FILE
      if (file) writeFileSync(file, JSON.stringify({ passed, failed }))
      else process.once('exit', () => console.log(`${passed} passed, ${failed} failed`))
    },
  }
}
