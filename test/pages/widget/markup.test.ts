import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TrackedExchange } from '../../../sdk/src/index.ts'
import { describeWith } from '../../support/describe-with.ts'
import { fakeApi, makeCurrency, makeTracked, token } from './fake-api.ts'
import { type ServedWidget, serveWidget } from './serve-widget.ts'

/* Texts that payers, partners and chains can set, in answers that the server would not give. */

const markup = `"><img src=x onerror="globalThis.isInjected=true"><script>globalThis.isInjected=true</script>`
const script = 'javascript:globalThis.isInjected=true//'
/** The links of the explorer lead to a script, too. */
const explorers = { addressExplorer: `${script}{}`, txExplorer: `${script}{}` }
const currencies = ['xrp', 'eth'].map((ticker) =>
  makeCurrency(ticker, ticker, { ...explorers, name: markup, memoName: markup, hasMemo: true }),
)
const request = {
  ...makeTracked().request,
  ...{ depositAddress: markup, depositMemo: markup, recipientAddress: markup, recipientMemo: markup },
  ...{ refundAddress: markup, refundMemo: markup, amountFromRequested: markup, amountToRequested: markup },
}
const refund = { amount: markup, currency: 'xrp', network: 'xrp', address: markup, memo: markup, hash: markup }
const deposit: TrackedExchange['deposits'][number] = {
  ...{ amountFromReceived: markup, amountToReceived: markup, status: 'sending', statusReason: null },
  ...{ payinHash: markup, payoutHash: script, refund: null, created: '2026-01-02T03:05:05.000Z' },
  ...{ confirmationsRequired: 2, confirmationsSeen: 2 },
}

describeWith('chromium', 'the widget', () => {
  let served: ServedWidget
  beforeAll(async () => {
    served = await serveWidget()
  })
  afterAll(async () => {
    await served?.close()
  })

  test.each<[string, Partial<TrackedExchange>]>([
    ['before the payment', { id: markup }],
    ['after the payout', { status: 'finished', deposits: [deposit] }],
    ['after a refund', { status: 'refunded', statusReason: 'BELOW_MIN', deposits: [{ ...deposit, refund }] }],
  ])('shows addresses, memos, amounts and hashes as text, and follows no link to a script: %s', async (_, change) => {
    const tracked = { ...makeTracked(change), request }
    const { page, problems } = await served.site.open({ members: { 'external-id': 'order-1' } }, async (opened) => {
      await fakeApi(opened, { currencies, tracked })
      const stored = JSON.stringify({ started: { token, startedAt: Date.now() } })
      await opened.addInitScript(
        `sessionStorage.setItem('swapyard:["pk_sandbox","","order-1"]', ${JSON.stringify(stored)})`,
      )
    })
    await page.locator('dl').getByText(markup).first().waitFor()
    const widget = page.locator('section')
    expect(await widget.locator('[src=x], [onerror], script').count()).toBe(0)
    const links = await widget.locator('a').evaluateAll((all) => all.map((one) => one.getAttribute('href')))
    expect(links.filter((href) => href !== null && !/^https?:\/\//.test(href))).toEqual([])
    expect(await page.evaluate('globalThis.isInjected')).toBeUndefined()
    expect(problems).toEqual([])
    await page.close()
  })
})
