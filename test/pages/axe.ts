import axe from 'axe-core'
import type { Page } from 'playwright-core'

type Result = Readonly<{
  violations: readonly Readonly<{ id: string; nodes: readonly Readonly<{ html: string }>[] }>[]
}>

/** What axe finds in a page: the rule, and the elements. `rules`: only these. */
export async function findViolations(page: Page, rules: readonly string[] | null = null): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source)
  const options = rules === null ? {} : { runOnly: rules }
  const { violations } = await page.evaluate<Result>(`axe.run(${JSON.stringify(options)})`)
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}
