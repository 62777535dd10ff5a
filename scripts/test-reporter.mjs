// Counts test results for the last line of `npm test`. Before it, prints why tests were skipped and, again, which failed: the end of
// a long log is what is read first. In CI a skipped test is a failure. The failures of a file are printed, with their differences,
// and counted when the file ends, so a run that is stopped reports them too.
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'

/** As in test/support/build-server.ts. */
const isBuildServer = (process.env.CI ?? '') !== ''

const path = (module) => relative(process.cwd(), module.moduleId)

/** Lines of an error message that are repeated at the end. */
const MESSAGE_LINES = 6

const firstLines = (errors) => (errors[0]?.message ?? 'no message').split('\n').slice(0, MESSAGE_LINES).join('\n    ')

/** False for what `test.todo` announces and for what `-t` leaves out. */
const isSkipped = ({ options, fullName }, namePattern) =>
  options.mode !== 'todo' && (namePattern === undefined || fullName.match(namePattern) !== null)

/** True if a hook around the test failed. The tests inside do not run, and the hook is the failure. */
const hasFailedHook = ({ parent }) => parent.errors().length > 0 || (parent.type !== 'module' && hasFailedHook(parent))

/** A hook that fails, a test file that does not load and an error outside of any test each count as one failure. */
function count(modules, unhandledErrors, namePattern) {
  let passed = 0
  const skipped = []
  const failures = unhandledErrors.map((error) => `outside of any test: ${firstLines([error])}`)
  for (const module of modules) {
    const before = failures.length
    for (const suite of [module, ...module.children.allSuites()]) {
      const title = suite === module ? path(module) : `${path(module)} > ${suite.fullName}`
      if (suite.errors().length > 0) failures.push(`${title}: ${firstLines(suite.errors())}`)
    }
    for (const test of module.children.allTests()) {
      const title = `${path(module)} > ${test.fullName}`
      const { state, note = 'no reason given', errors = [] } = test.result()
      if (state === 'passed') passed += 1
      else if (state !== 'skipped') failures.push(`${title}: ${firstLines(errors)}`)
      else if (isBuildServer && isSkipped(test, namePattern) && !hasFailedHook(test))
        failures.push(`${title}: skipped in CI: ${note}`)
      else skipped.push(`${title}: ${note}`)
    }
    if (module.state() === 'failed' && failures.length === before) failures.push(`${path(module)}: no message`)
  }
  return { passed, skipped, failures }
}

/** Lines of a difference between what was expected and what was received. */
const DIFF_LINES = 40

/** Of each failed test of a file, how what was received differs. */
const listDifferences = (module) =>
  [...module.children.allTests()]
    .flatMap((test) => test.result().errors ?? [])
    .filter(({ diff }) => diff)
    .map(({ diff }) => diff.split('\n').slice(0, DIFF_LINES).join('\n'))

/** Prints the failures and, as the last line, the counts. */
export function printSummary({ passed, failures }) {
  for (const failure of failures) console.log(`failed: ${failure}`)
  console.log(`${passed} passed, ${failures.length} failed`)
}

export default function createReporter() {
  let vitest
  const soFar = { passed: 0, failures: [] }
  const file = process.env.TEST_SUMMARY_FILE
  return {
    onInit(started) {
      vitest = started
      console.log(`TEST_SEED=${process.env.TEST_SEED} repeats the random choices of this run`)
    },
    onTestModuleEnd(module) {
      const { passed, failures } = count([module], [], vitest.getGlobalTestNamePattern())
      for (const failure of failures) console.log(`failure: ${failure}`)
      for (const difference of listDifferences(module)) console.log(difference)
      soFar.passed += passed
      soFar.failures.push(...failures)
      if (file) writeFileSync(file, JSON.stringify(soFar))
    },
    onTestRunEnd(modules, unhandledErrors) {
      const { passed, skipped, failures } = count(modules, unhandledErrors, vitest.getGlobalTestNamePattern())
      for (const line of skipped) console.log(`skipped: ${line}`)
      if (file) writeFileSync(file, JSON.stringify({ passed, failures, complete: true }))
      else process.once('exit', () => printSummary({ passed, failures }))
    },
  }
}
