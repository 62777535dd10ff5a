import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'

/** The short form, which a page reads in two thirds of the time. */
const source = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** What axe-core returns, as far as it is read here. */
type Result = Readonly<{
  violations: readonly Readonly<{
    id: string
    nodes: readonly Readonly<{ target: readonly string[]; html: string; failureSummary?: string }>[]
  }>[]
}>

/** What axe finds in a page: the rule, the element and what is wrong. `rules`: only these. `within`: a selector. */
export async function findViolations(
  page: Page,
  rules: readonly string[] | null = null,
  within: string | null = null,
): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(source)
  const options = { resultTypes: ['violations'], ...(rules === null ? {} : { runOnly: rules }) }
  const { violations } = await page.evaluate<Result>(
    `axe.run(${within === null ? 'document' : JSON.stringify(within)}, ${JSON.stringify(options)})`,
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, html, failureSummary }) => `${id} ${target}: ${html}: ${failureSummary}`),
  )
}
