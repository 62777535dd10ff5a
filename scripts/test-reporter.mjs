// Counts test results for the last line of `npm test`. Before it, prints why tests were skipped and, again, which failed: the end of
// a long log is what is read first.
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'

const path = (module) => relative(process.cwd(), module.moduleId)

/** Lines of an error message that are repeated at the end. */
const MESSAGE_LINES = 6

const firstLines = (errors) => (errors[0]?.message ?? 'no message').split('\n').slice(0, MESSAGE_LINES).join('\n    ')

/** Errors of hooks and of loading. */
const suiteErrors = (module) => [module, ...module.children.allSuites()].flatMap((suite) => suite.errors())

/** A test file that fails to load or in a hook and an error outside of any test each count as one failure. */
function count(modules, unhandledErrors) {
  const counts = { passed: 0, failed: unhandledErrors.length, skipped: [], failures: [] }
  for (const error of unhandledErrors) counts.failures.push(`outside of any test: ${firstLines([error])}`)
  for (const module of modules) {
    let failed = 0
    for (const test of module.children.allTests()) {
      const result = test.result()
      if (result.state === 'passed') counts.passed += 1
      else if (result.state === 'skipped') counts.skipped.push({ module, test, note: result.note })
      else {
        failed += 1
        counts.failures.push(`${path(module)} > ${test.fullName}: ${firstLines(result.errors ?? [])}`)
      }
    }
    if (failed === 0 && module.state() === 'failed') {
      failed = 1
      counts.failures.push(`${path(module)}: ${firstLines(suiteErrors(module))}`)
    }
    counts.failed += failed
  }
  return counts
}

/** Prints the failures and, as the last line, the counts. */
export function printSummary({ passed, failed, failures }) {
  for (const failure of failures) console.log(`failed: ${failure}`)
  console.log(`${passed} passed, ${failed} failed`)
}

export default function createReporter() {
  return {
    onTestRunEnd(modules, unhandledErrors) {
      const { passed, failed, skipped, failures } = count(modules, unhandledErrors)
      for (const { module, test, note } of skipped) {
        console.log(`skipped: ${path(module)} > ${test.fullName}: ${note ?? 'no reason given'}`)
      }
      const file = process.env.TEST_SUMMARY_FILE
      if (file) writeFileSync(file, JSON.stringify({ passed, failed, failures }))
      else process.once('exit', () => printSummary({ passed, failed, failures }))
    },
  }
}
