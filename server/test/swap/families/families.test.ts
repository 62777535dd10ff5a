import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { memoryFamilies } from './memory-families.ts'
import { decodeUnsigned, EPOCH, encodeUnsigned, type Wallet, WINDOW } from './memory-ledger.ts'
import { FEE_PPM, type Json, reserves, type Stage, startStage } from './stage.ts'

/* Network families without EVM's forms, through the HTTP API: case-sensitive addresses, other hashes, no nonces, no approvals. */

/** Output of a pool of constant product with a fee on the input. */
function outputOf(amountIn: bigint, reserveIn: bigint, reserveOut: bigint): bigint {
  const net = amountIn * (1_000_000n - BigInt(FEE_PPM))
  return (net * reserveOut) / (reserveIn * 1_000_000n + net)
}

/** Changes the case of every letter. */
const swapCase = (text: string): string =>
  [...text].map((one) => (one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase())).join('')

describe.each(memoryFamilies.map((family) => [family.network.id, family] as const))('on %s', (id, family) => {
  const { native, tokens } = family
  const [usd, other] = tokens
  const isHexadecimal = family.addressOf(new Uint8Array(32)).startsWith('0x')
  let stage: Stage
  let user: Wallet
  beforeAll(async () => {
    stage = await startStage(family)
  })
  afterAll(() => stage?.stop())
  beforeEach(() => {
    user = stage.user()
    stage.ledger.state.isLosing = false
  })

  const trade = (changes: Record<string, string> = {}) => ({
    ...{ network: id, fromTokenAddress: native, toTokenAddress: usd, amount: '1', slippage: '1', referrerFee: '0' },
    ...changes,
  })
  const buildWith = async (changes: Record<string, string> = {}): Promise<string> => {
    const { status, body } = await stage.post('transaction/swap', { ...trade(changes), account: user.address })
    expect([status, body]).toEqual([201, [expect.any(String)]])
    return body[0]
  }
  const sendBody = (changes: Record<string, unknown> = {}) => ({
    ...{ account: user.address, amountFrom: '1', amountTo: '149', commissionPercentage: '0' },
    ...{ fromTokenAddress: native, toTokenAddress: usd, network: id, ...changes },
  })
  const send = (changes: Record<string, unknown>, key = 'sandbox') => stage.post('send/swap', sendBody(changes), key)
  const statusOf = async (hash: string): Promise<Json> => (await stage.get('exchange/status', { hash })).body
  const total = async (query: Record<string, string>): Promise<number> =>
    (await stage.get('exchange/list', query)).body.total
  const blocksToExpiry = () => {
    const { height } = stage.ledger.state
    return family.expiresBy === 'height' ? WINDOW : 2 * EPOCH - (height % EPOCH)
  }

  test('lists the network without a chain id', async () => {
    const { body } = await stage.get('networks')
    expect(body.filter(({ enabled }: Json) => enabled)).toEqual([{ network: id, chainId: null, enabled: true }])
  })

  test('lists the coin and its tokens by their own addresses, whose case counts', async () => {
    const { body } = await stage.get('available-currencies', { network: id })
    expect(body.map(({ address, symbol, decimals }: Json) => [address, symbol, decimals])).toEqual([
      [native, family.network.symbol, 9],
      [usd, 'USDC', 6],
      [other, 'usdc', 8],
    ])
    const token = await stage.get('currency/info', { network: id, address: other })
    expect(token.body).toMatchObject({ address: other, decimals: 8, enabled: true })
    const { status } = await stage.get('currency/info', { network: id, address: `0x${'11'.repeat(20)}` })
    expect(status).toBe(400)
  })

  test('quotes by the pools of the network, with the coin of nine decimals', async () => {
    const direct = outputOf(10n ** 9n, reserves.coin, reserves.usd)
    const quote = await stage.get('quote', trade({ referrerFee: '1' }))
    expect(quote.body).toMatchObject({
      ...{ fromAmountRaw: '1000000000', toAmountRaw: direct.toString() },
      receivedAmountRaw: (direct - direct / 100n).toString(),
    })
    const hops = await stage.get('quote', trade({ toTokenAddress: other }))
    expect(hops.body.toAmountRaw).toBe(outputOf(direct, reserves.usd, reserves.other).toString())
    const [{ subRoutes }] = hops.body.routes
    expect(subRoutes.map(({ from, to }: Json) => [from, to])).toEqual([
      [native, usd],
      [usd, other],
    ])
    expect((await stage.get('quote', trade({ toTokenAddress: native }))).body.code).toBe('SAME_CURRENCY')
    // An address of another family is none here.
    const foreign = await stage.get('quote', trade({ toTokenAddress: `0x${'11'.repeat(20)}` }))
    expect(foreign.body).toMatchObject({ code: 'INVALID_ADDRESS' })
  })

  test('needs no approval', async () => {
    const answer = await stage.post('send/approve', { network: id, rawApproveTx: user.sign(await buildWith()) })
    expect(answer).toMatchObject({ status: 422, body: { code: 'APPROVAL_NOT_NEEDED' } })
  })

  test('a swap is built, sent, listed and finished with the amount that the chain paid', async () => {
    const unsigned = await buildWith()
    const rawTx = user.sign(unsigned)
    const before = stage.ledger.balanceOf(user.address, usd)
    const { status, body: hash } = await send({ rawTx })
    expect([status, family.parseHash(hash)]).toEqual([201, hash])
    // A repeat is the same swap.
    expect((await send({ rawTx, hash })).body).toBe(hash)
    expect(await statusOf(hash)).toMatchObject({
      status: 'pending',
      addressFrom: user.address,
      fromTokenAddress: native,
    })
    await stage.mineAndTrack(1)
    expect((await statusOf(hash)).status).toBe('confirming')
    await stage.mineAndTrack(1)
    const paid = stage.ledger.balanceOf(user.address, usd) - before
    const row = await statusOf(hash)
    expect(row).toMatchObject({ status: 'finished', hash, network: id, toTokenAddress: usd, statusReason: null })
    expect(BigInt(Math.round(row.amountTo * 1e6))).toBe(paid)
    expect(await total({ hash })).toBe(1)
    const matching = { hash, account: user.address, fromTokenAddress: native, toTokenAddress: usd }
    expect([await total(matching), await total({ ...matching, network: id })]).toEqual([1, 1])
    // The case of a hash and of an address counts.
    expect([
      await total({ hash: swapCase(hash) }),
      await total({ toTokenAddress: other, account: user.address }),
    ]).toEqual([0, 0])
    expect((await stage.get('exchange/status', { hash: swapCase(hash) })).status).toBe(404)
    expect((await stage.get('exchange/status', { hash }, 'sandbox-b')).status).toBe(404)
  })

  test('a swap that the user broadcast is reported by its hash', async () => {
    const rawTx = user.sign(await buildWith())
    const { hash } = await stage.chain.readSigned(rawTx)
    await stage.chain.broadcast(rawTx)
    stage.ledger.mine()
    expect((await send({ hash })).body).toBe(hash)
    await stage.mineAndTrack(1)
    expect((await statusOf(hash)).status).toBe('finished')
    expect((await send({ hash: `0x${'ab'.repeat(32)}` })).body).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining(family.hashForm),
    })
  })

  test('a swap that was changed, or was built for another partner or network, is refused', async () => {
    const unsigned = await buildWith()
    // An expiry that the transaction states is bound; the recent block is the wallet's choice.
    const later = family.expiresBy === 'epoch' ? [{ epoch: 1_000 }] : []
    const others = [{ minReceived: '1' }, { memo: `0x${'ab'.repeat(32)}` }, { recipient: stage.operator.address }]
    const changes = [...others, ...later]
    for (const changed of changes)
      expect((await send({ rawTx: user.sign(unsigned, changed) })).body, JSON.stringify(changed)).toMatchObject({
        code: 'RAW_TX_INVALID',
      })
    const rawTx = user.sign(unsigned)
    expect((await send({ rawTx }, 'sandbox-b')).body.code).toBe('RAW_TX_INVALID')
    expect((await send({ rawTx: user.sign(unsigned, { network: 'eth' }) })).body.code).toBe('TX_CHAIN_MISMATCH')
    // Of another account: the reference binds the signer.
    expect((await send({ rawTx: stage.user().sign(unsigned) })).body.code).toBe('RAW_TX_INVALID')
    // Also without a record, where other transactions are accepted.
    const tampered = user.sign(unsigned, { minReceived: '1' })
    expect((await send({ rawTx: tampered, isExchange: false })).body.code).toBe('RAW_TX_INVALID')
    expect(await total({ account: user.address })).toBe(0)
  })

  test('a recipient in the request must be the one of the transaction', async () => {
    const rawTx = user.sign(await buildWith())
    const otherTo = await send({ rawTx, to: stage.operator.address })
    expect(otherTo).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } })
    expect(otherTo.body.errors).toMatchObject([{ code: 'RAW_TX_INVALID', field: 'to' }])
    const foreign = await send({ rawTx, to: `0x${'11'.repeat(20)}` })
    expect(foreign).toMatchObject({ status: 400, body: { code: 'INVALID_ADDRESS', errors: [{ field: 'to' }] } })
    // Base58 distinguishes a case; hexadecimal digits do not.
    const otherCase = await send({
      rawTx,
      to: isHexadecimal ? user.address.replace(/[a-f]/g, swapCase) : swapCase(user.address),
    })
    expect([otherCase.status, otherCase.body?.errors?.[0]?.field]).toEqual(
      isHexadecimal ? [201, undefined] : [400, 'to'],
    )
    expect(await total({ account: user.address })).toBe(isHexadecimal ? 1 : 0)
    expect((await send({ rawTx, to: user.address })).status).toBe(201)
    expect(await total({ account: user.address })).toBe(1)
  })

  test('no swap is built for a restricted account, and nothing is sent that it signed or that pays it', async () => {
    const restricted = { status: 451, body: { code: 'RESTRICTED' } }
    const { address, sign } = stage.restricted
    expect(await stage.post('transaction/swap', { ...trade(), account: address })).toMatchObject(restricted)
    const transferTo = (to: string) =>
      encodeUnsigned({ kind: 'transfer', network: id, to, epoch: null, recent: stage.ledger.state.height })
    const { broadcasts } = stage.ledger.state
    const bySigner = await send({ rawTx: sign(transferTo(user.address)), account: address, isExchange: false })
    expect(bySigner).toMatchObject(restricted)
    expect(await send({ rawTx: user.sign(transferTo(address)), isExchange: false })).toMatchObject(restricted)
    expect(stage.ledger.state.broadcasts).toBe(broadcasts)
    expect((await send({ rawTx: user.sign(transferTo(user.address)), isExchange: false })).status).toBe(201)
  })

  test.each(['dex:a dex', 'pool:Pool1', 'token:USD'])(
    'a pause of %s ends quotes, builds, and sends of what was built before',
    async (scope) => {
      const rawTx = user.sign(await buildWith())
      stage.pause(`${scope.replace('USD', usd)}@${id}`)
      try {
        expect(await stage.get('quote', trade())).toMatchObject({ status: 422, body: { code: 'NO_ROUTE' } })
        const built = await stage.post('transaction/swap', { ...trade(), account: user.address })
        expect(built).toMatchObject({ status: 422, body: { code: 'NO_ROUTE' } })
        for (const isExchange of [true, false])
          expect(await send({ rawTx, isExchange })).toMatchObject({ status: 503, body: { code: 'NETWORK_PAUSED' } })
        expect(await total({ account: user.address })).toBe(0)
        // Of another network.
        stage.pause(`${scope.replace('USD', usd)}@eth`)
        expect((await send({ rawTx })).status).toBe(201)
      } finally {
        stage.pause()
      }
    },
  )

  test('operators see the pools with the symbols of their tokens, also paused ones', async () => {
    const { symbol, decimals } = stage.family.network
    const coin = { address: native, symbol }
    const [first, second] = [
      { address: usd, symbol: 'USDC' },
      { address: other, symbol: 'usdc' },
    ]
    stage.pause(`pool:Pool1@${id}`)
    try {
      expect(await stage.pools.list(id)).toEqual([
        { id: 'Pool1', dex: 'a dex', tokens: [coin.address, usd], dollars: 0, shown: [coin, first] },
        { id: 'Pool2', dex: 'a dex', tokens: [usd, other], dollars: 1, shown: [first, second] },
      ])
      const depth = { units: 2_500_000_000, maximumUnits: 3_000_000_000 }
      expect(stage.pools.states()).toMatchObject([{ network: id, symbol, decimals, depth, pools: 2 }])
      await expect(stage.pools.list('eth')).rejects.toMatchObject({ code: 'NETWORK_NOT_SERVED' })
    } finally {
      stage.pause()
    }
  })

  test('any other transaction is broadcast without a record', async () => {
    const transfer = { kind: 'transfer', network: id, to: stage.operator.address, epoch: null } as const
    const unsigned = encodeUnsigned({ ...transfer, recent: stage.ledger.state.height })
    const { status, body: hash } = await send({ rawTx: user.sign(unsigned), isExchange: false })
    expect([status, stage.ledger.pending.has(hash)]).toEqual([201, true])
    expect(await total({ account: user.address })).toBe(0)
    stage.ledger.mine()
    expect((await send({ rawTx: user.sign(unsigned) })).body.code).toBe('RAW_TX_INVALID')
  })

  test('a swap that no block included before its expiry fails, once a final block shows it', async () => {
    stage.ledger.state.isLosing = true
    const rawTx = user.sign(await buildWith())
    const { body: hash } = await send({ rawTx })
    const [row] = await stage.database.query<{ nonce: string | null; expires_by: string; expires_at: string }>(
      'select nonce, expires_by, expires_at from swaps where hash = $1',
      [hash],
    )
    const { height } = stage.ledger.state
    const at = family.expiresBy === 'height' ? height + WINDOW : Math.floor(height / EPOCH) + 1
    expect(row).toEqual({ nonce: null, expires_by: family.expiresBy, expires_at: String(at) })
    const { finalityBlocks } = family.network
    await stage.mineAndTrack(blocksToExpiry() + finalityBlocks - 2)
    expect((await statusOf(hash)).status).toBe('pending')
    await stage.mineAndTrack(1)
    expect(await statusOf(hash)).toMatchObject({ status: 'failed', statusReason: 'expired' })
    const [ended] = await stage.database.query('select next_check_at, raw from swaps where hash = $1', [hash])
    expect(ended).toEqual({ next_check_at: null, raw: null })
    // What has expired is not broadcast again, and not recorded.
    stage.ledger.state.isLosing = false
    const { broadcasts } = stage.ledger.state
    expect((await send({ rawTx })).body).toMatchObject({ statusCode: 400, code: 'RAW_TX_INVALID' })
    expect(stage.ledger.state.broadcasts).toBe(broadcasts)
  })

  if (family.expiresBy === 'height')
    test('a swap that was sent long after its build is pending until a final block proves its expiry', async () => {
      stage.ledger.state.isLosing = true
      const rawTx = user.sign(await buildWith())
      const lastHeight = stage.ledger.state.height + WINDOW
      stage.ledger.mine(WINDOW - 5)
      const { body: hash } = await send({ rawTx })
      const expiresAt = stage.ledger.state.height + WINDOW
      const readRow = async () => {
        const [row] = await stage.database.query<{ expires_at: string; is_kept: boolean }>(
          'select expires_at, raw is not null as is_kept from swaps where hash = $1',
          [hash],
        )
        return row
      }
      // No node takes it any more, but no final block shows that none has it, and the row says a later height.
      await stage.mineAndTrack(lastHeight - stage.ledger.state.height)
      expect(await stage.chain.broadcast(rawTx)).toMatchObject({ kind: 'rejected', because: 'expired' })
      for (let look = 0; look < 3; look++) {
        await stage.track()
        expect(await statusOf(hash)).toMatchObject({ status: 'pending', statusReason: null })
        expect(await readRow()).toEqual({ expires_at: String(expiresAt), is_kept: true })
        stage.ledger.mine()
      }
      const provenAt = expiresAt + family.network.finalityBlocks - 1
      await stage.mineAndTrack(provenAt - 1 - stage.ledger.state.height)
      expect((await statusOf(hash)).status).toBe('pending')
      await stage.mineAndTrack(1)
      expect(await statusOf(hash)).toMatchObject({ status: 'failed', statusReason: 'expired' })
    })

  test('B135: an amount that no transaction can state is refused, and the greatest one is an amount', async () => {
    const [most, above] = ['18446744073.709551615', '18446744073.709551616']
    const refused = { status: 422, body: { code: 'AMOUNT_ABOVE_MAX' } }
    expect(await stage.get('quote', trade({ amount: above }))).toMatchObject(refused)
    expect((await stage.get('quote', trade({ amount: above }))).body.errors).toMatchObject([
      { field: 'amount', max: most },
    ])
    const account = user.address
    expect(await stage.post('transaction/swap', { ...trade({ amount: above }), account })).toMatchObject(refused)
    const rawTx = user.sign(await buildWith())
    for (const changes of [{ amountFrom: above }, { amountTo: '18446744073709.551616' }])
      expect(await send({ rawTx, ...changes })).toMatchObject(refused)
    // The pools cannot trade it, which is another answer.
    expect((await stage.get('quote', trade({ amount: most }))).body.code).not.toBe('AMOUNT_ABOVE_MAX')
  })

  test('a swap that is sent after its expiry is refused', async () => {
    const rawTx = user.sign(await buildWith())
    stage.ledger.mine(blocksToExpiry())
    expect((await send({ rawTx })).body).toMatchObject({ statusCode: 400, code: 'RAW_TX_INVALID' })
    expect((await send({ rawTx, isExchange: false })).body.code).toBe('RAW_TX_INVALID')
    expect(await total({ account: user.address })).toBe(0)
  })

  test('a swap below its minimum fails as reverted', async () => {
    const rawTx = user.sign(await buildWith({ slippage: '0.01' }))
    const { body: hash } = await send({ rawTx })
    const pools = stage.ledger.pools()
    for (const pool of pools) stage.ledger.movePool({ ...pool, reserves: [pool.reserves[0] * 2n, pool.reserves[1]] })
    await stage.mineAndTrack(2)
    expect(await statusOf(hash)).toMatchObject({ status: 'failed', statusReason: 'reverted' })
    for (const pool of pools) stage.ledger.movePool(pool)
  })

  test('a fee is owed to the partner under the address of its token', async () => {
    const unsigned = await buildWith({ referrerFee: '1' })
    const swap = decodeUnsigned(unsigned)
    expect(swap).toMatchObject({ feePpm: 10_000, feeTo: stage.operator.address })
    const { body: hash } = await send({ rawTx: user.sign(unsigned), commissionPercentage: '1' })
    await stage.mineAndTrack(family.network.finalityBlocks)
    const units = stage.ledger.balanceOf(stage.operator.address, usd)
    expect(units).toBeGreaterThan(0n)
    const owed = await stage.database.query<{ asset_id: string; units: string }>(
      'select asset_id, units from balances where account = $1',
      [`liability:partner:${stage.partnerId}`],
    )
    expect(owed).toEqual([{ asset_id: `${usd}@${id}`, units: (-units).toString() }])
    expect((await statusOf(hash)).status).toBe('finished')
  })

  test('a swap has the externalId of its build, of its send before that, and filters the list by it', async () => {
    const sent = async (built: string | null, named: string | null) => {
      stage.ledger.mine()
      const unsigned = await buildWith(built === null ? {} : { externalId: built })
      const answer = await send({ rawTx: user.sign(unsigned), ...(named === null ? {} : { externalId: named }) })
      expect(answer.status).toBe(201)
      return (await statusOf(answer.body)).externalId
    }
    const [order, other] = [`order 1 ${user.address.slice(-20)}`, `order 2 ${user.address.slice(-20)}`]
    expect([
      await sent(order, null),
      await sent(order, other),
      await sent(null, order),
      await sent(null, null),
    ]).toEqual([order, other, order, null])
    const { body } = await stage.get('exchange/list', { externalId: order })
    expect([body.total, body.exchanges.map(({ externalId }: Json) => externalId)]).toEqual([2, [order, order]])
    const refused = await stage.post('transaction/swap', {
      ...trade(),
      ...{ account: user.address, externalId: 'a'.repeat(65) },
    })
    expect([refused.status, refused.body.errors[0].field]).toEqual([400, 'externalId'])
  })

  test('a swap that is found by its fee has the externalId of its build once it is reported', async () => {
    await stage.findFees()
    const externalId = `found ${user.address.slice(-20)}`
    const rawTx = user.sign(await buildWith({ referrerFee: '1', externalId }))
    const { body: hash } = await send({ rawTx, isExchange: false })
    stage.ledger.mine(family.network.finalityBlocks)
    await stage.findFees()
    expect((await send({ hash, commissionPercentage: '1' })).status).toBe(201)
    expect((await statusOf(hash)).externalId).toBe(externalId)
  })

  test('a fee of a swap that was not reported is found', async () => {
    await stage.findFees()
    const { body: hash } = await send({
      ...{ rawTx: user.sign(await buildWith({ referrerFee: '1' })), isExchange: false },
    })
    expect(await total({ hash })).toBe(0)
    stage.ledger.mine(family.network.finalityBlocks)
    await stage.findFees()
    const rows = await stage.database.query('select sender, owes_fee from swaps where hash = $1', [hash])
    expect(rows).toEqual([{ sender: user.address, owes_fee: true }])
    // The partner did not report it.
    expect(await total({ hash })).toBe(0)
  })

  if (!family.keepsPending)
    test('a swap that the nodes forgot is sent again until it is in a block', async () => {
      stage.ledger.state.isLosing = true
      const { body: hash } = await send({ rawTx: user.sign(await buildWith()) })
      await stage.mineAndTrack(3)
      expect((await statusOf(hash)).status).toBe('pending')
      stage.ledger.state.isLosing = false
      await stage.track()
      await stage.mineAndTrack(2)
      expect((await statusOf(hash)).status).toBe('finished')
    })
})
