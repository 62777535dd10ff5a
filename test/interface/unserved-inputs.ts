import { routes } from '@swapyard/schema'
import { expect } from 'vitest'
import type { Answer, Scenario } from '../support/scenario.ts'

/* Rows of vectors/bad_inputs.jsonl about chain families, routes and pages that do not exist. */

export type UnservedContext = Readonly<{
  scenario: Scenario
  create(body: object): Promise<Answer>
  /** Expects this answer, and no changed rows. */
  expectRejection(send: () => Promise<Answer>, status: number, code: string): Promise<void>
}>

/** A valid order from bitcoin, without its target. */
const order = { fromCurrency: 'btc', fromNetwork: 'btc', fromAmount: '0.01', flow: 'standard' }

/** Rejects each of `destinations` by its network, whether the address or memo is valid or not. */
const rejectsDestinations =
  (network: string, destinations: readonly object[]) =>
  async ({ create, expectRejection }: UnservedContext): Promise<void> => {
    for (const destination of destinations)
      await expectRejection(
        () => create({ ...order, toCurrency: network, toNetwork: network, ...destination }),
        422,
        'PAIR_UNAVAILABLE',
      )
  }

/** A page of another origin sends the browser's cookies, but no header of its own choice without permission. */
async function rejectsOtherOrigins({ scenario, expectRejection }: UnservedContext): Promise<void> {
  const headers = { origin: 'https://example.org', cookie: 'session=sandbox', 'x-api-key': '' }
  const posts = Object.values(routes).filter(({ method }) => method === 'POST')
  expect(posts.length).toBeGreaterThan(5)
  for (const { path } of posts) {
    await expectRejection(() => scenario.call('POST', path, order, headers), 401, 'API_KEY_MISSING')
    await expectRejection(
      () => scenario.call('POST', `${path}?session=sandbox`, order, headers),
      401,
      'API_KEY_MISSING',
    )
    const permission = await fetch(`${scenario.url}${path}`, {
      method: 'OPTIONS',
      headers: {
        origin: headers.origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-api-key',
      },
    })
    expect([path, permission.headers.get('access-control-allow-origin')]).toEqual([path, null])
  }
  const note = { reason: 'javascript:alert(1)' }
  for (const path of ['/console', '/console/exchanges/1/refund?session=x', '/operator', '/admin/login'])
    await expectRejection(() => scenario.call('POST', path, note, headers), 404, 'ROUTE_NOT_FOUND')
}

const privateUrls = [
  'http://example.org/',
  'https://169.254.169.254/',
  'https://[::ffff:127.0.0.1]/',
  'https://0x7f000001/',
  'https://localtest.me/',
  'https://example.org:5432/',
]

/** No route and no member of an order accepts a URL to deliver to. */
async function acceptsNoUrl({ scenario, create, expectRejection }: UnservedContext): Promise<void> {
  for (const url of privateUrls) {
    for (const path of ['/v1/webhooks', '/v1/callbacks'])
      await expectRejection(() => scenario.call('POST', path, { url }), 404, 'ROUTE_NOT_FOUND')
    const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
    const created = await create({
      ...order,
      toCurrency: 'eth',
      toNetwork: 'eth',
      address,
      webhook: url,
      callbackUrl: url,
    })
    expect(created.status).toBe(201)
    const stored = await scenario.app.database.query(
      'select 1 from exchanges e where e.id = $1 and strpos(e::text, $2) > 0',
      [created.body.id, url],
    )
    expect([url, stored]).toEqual([url, []])
  }
}

/** The examples of addresses are public: Raydium's authority, the token program; XLS-5; SEP-23. */
export const unservedInputs: Readonly<
  Record<string, readonly [name: string, run: (context: UnservedContext) => Promise<void>]>
> = {
  B077: [
    'rejects addresses of Solana without a private key',
    rejectsDestinations('sol', [
      { address: '5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1' },
      { address: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' },
      { address: '11111111111111111111111111111111' },
    ]),
  ],
  B078: [
    'rejects short addresses of Sui',
    rejectsDestinations('sui', [{ address: `0x${'1'.repeat(63)}` }, { address: '0x2' }]),
  ],
  B087: [
    'rejects a tag in the address of XRP that differs from the memo',
    rejectsDestinations('xrp', [{ address: 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu', memo: '2' }]),
  ],
  B088: [
    'rejects a memo of Stellar with 29 bytes',
    rejectsDestinations('xlm', [
      { address: 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ', memo: `${'🙂'.repeat(7)}a` },
    ]),
  ],
  B167: ['rejects requests of a page of another origin', rejectsOtherOrigins],
  B169: ['accepts no URL to deliver to', acceptsNoUrl],
}
