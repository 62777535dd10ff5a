import axe from 'axe-core'
import type { Page } from 'playwright-core'

type Result = Readonly<{
  violations: readonly Readonly<{ id: string; nodes: readonly Readonly<{ html: string }>[] }>[]
}>

/** What axe finds in a page: the rule, and the elements. */
export async function findViolations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<Result>('axe.run()')
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}
