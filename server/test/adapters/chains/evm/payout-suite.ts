import { getAddress, keccak256, parseTransaction } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PATIENCE_MS } from '../../../../../test/support/patience.ts'
import { signEvm } from '../../../../src/adapters/chains/evm/sign.ts'
import type { Asset } from '../../../../src/core/domain/asset.ts'
import type { Observation, SpendRequest, UnsignedTransaction } from '../../../../src/exchange/ports/chain.ts'
import type { KeyPath } from '../../../../src/exchange/ports/spend.ts'
import { type FaultyNode, startFaultyNode } from './faulty-node.ts'
import { call, hex, type TestNode } from './test-node.ts'
import { type ActorName, type Compiled, type TokenName, testActors, testTokens } from './tokens.ts'
import { chainOf, keys, native, network, pay, token } from './wallet.ts'

const HOT: KeyPath = { branch: 'hot', index: 0 }

/** What differs among clients: the gas limit of a plain transfer, and whether orphaned transactions return to the pool. */
export type PayoutClient = Readonly<{ name: string; plainGasLimit: bigint; returnsOrphans: boolean }>

/** Tests of the sender on a client. */
export function describePayouts(client: PayoutClient, start: () => Promise<TestNode>): void {
  describe(`on ${client.name}`, () => {
    let evm: TestNode
    let second: FaultyNode
    let tokens: Readonly<Record<TokenName, Compiled>>
    let actors: Readonly<Record<ActorName, Compiled>>
    let chain: ReturnType<typeof chainOf>
    let nonce = 0
    let next = 5000

    beforeAll(async () => {
      ;[evm, tokens, actors] = await Promise.all([start(), testTokens(), testActors()])
      second = await startFaultyNode(evm.url)
      chain = chainOf([evm.url, second.url])
      await evm.sendAndMine({ to: chain.addresses.hot(), value: 100n * 10n ** 18n })
    })
    afterAll(async () => {
      await Promise.all([evm?.stop(), second?.stop()])
    })

    const fresh = () => chain.addresses.deposit(next++).address

    async function build(
      address: string,
      asset: Asset,
      units: bigint,
      parts: Partial<SpendRequest> = {},
    ): Promise<UnsignedTransaction> {
      const payment = pay(address, asset, units)
      const from = parts.from ?? HOT
      const gasLimit = parts.gasLimit ?? (await chain.sender.gasLimit(payment, from))
      const fee = await chain.reader.feeRate()
      const fixed = { utxos: [], changeIndex: 0, replaces: null, sweepAll: false, nonce: parts.nonce ?? nonce++ }
      return chain.sender.build({ payments: [payment], from, fee, gasLimit, ...fixed, ...parts })
    }

    async function deploy(name: TokenName, ...more: bigint[]) {
      const { abi } = tokens[name]
      const contract = getAddress(await evm.deploy(tokens[name], ['Test', 'TST', 6, ...more]))
      await evm.sendAndMine({ to: contract, data: call(abi, 'mint', [chain.addresses.hot(), 10n ** 12n]) })
      return { abi, contract, asset: token(contract) }
    }

    const sign = ({ intent }: UnsignedTransaction) => signEvm(intent, keys)
    const observe = (unsigned: UnsignedTransaction): Promise<Observation> =>
      chain.sender.observe({ txHash: sign(unsigned).txHash, conflictKey: unsigned.conflictKey })
    const balance = (address: string, asset: Asset) => chain.reader.balance(address, asset)

    describe('a payout', () => {
      test('in native currency is accepted, pending, then included with the fee of its receipt', async () => {
        const to = fresh()
        const before = await balance(chain.addresses.hot(), native)
        const unsigned = await build(to, native, 5n * 10n ** 17n)
        expect(unsigned.intent).toMatchObject({ gasLimit: client.plainGasLimit })
        const { raw, txHash } = sign(unsigned)
        expect(txHash).toBe(keccak256(raw as `0x${string}`))
        expect(await observe(unsigned)).toEqual({ kind: 'unseen' })
        expect(await chain.sender.broadcast(raw)).toEqual({ kind: 'accepted' })
        expect(await observe(unsigned)).toEqual({ kind: 'pending' })
        expect((await chain.sender.broadcast(raw)).kind).toBe('known')
        const height = await evm.mine()
        const observed = await observe(unsigned)
        expect(observed).toMatchObject({ kind: 'included', ok: true, block: { height } })
        expect(await balance(to, native)).toBe(5n * 10n ** 17n)
        const spent = before - (await balance(chain.addresses.hot(), native)) - 5n * 10n ** 17n
        expect(observed).toMatchObject({ feeUnits: spent })
        expect(spent).toBeLessThanOrEqual(unsigned.feeUnits)
        expect(await chain.sender.broadcast(raw)).toEqual({ kind: 'known' })
      })

      test('in a block is scanned with its sender and nonce', async () => {
        const unsigned = await build(fresh(), native, 1n)
        await chain.sender.broadcast(sign(unsigned).raw)
        const block = await chain.reader.block(await evm.mine())
        const [only] = block?.transactions ?? []
        expect(only).toEqual({
          txHash: sign(unsigned).txHash,
          sender: chain.addresses.hot(),
          nonce: nonce - 1,
          spends: [],
        })
        expect(unsigned.conflictKey).toBe(`${chain.addresses.hot()}:${nonce - 1}`)
      })

      test.each(['StandardToken', 'NoReturnToken', 'FalseToken'] as const)('of a %s arrives', async (name) => {
        const { asset } = await deploy(name)
        const to = fresh()
        const unsigned = await build(to, asset, 77n)
        expect((await chain.sender.broadcast(sign(unsigned).raw)).kind).toBe('accepted')
        await evm.mine()
        expect(await observe(unsigned)).toMatchObject({ kind: 'included', ok: true })
        expect(await balance(to, asset)).toBe(77n)
      })

      test('is not ok if its token returns false, although the transaction succeeded (D20)', async () => {
        const { abi, contract, asset } = await deploy('FalseToken')
        const to = fresh()
        const unsigned = await build(to, asset, 77n)
        await evm.sendAndMine({ to: contract, data: call(abi, 'refuse', [true]) })
        await chain.sender.broadcast(sign(unsigned).raw)
        await evm.mine()
        expect(await observe(unsigned)).toMatchObject({ kind: 'included', ok: false })
        expect(await balance(to, asset)).toBe(0n)
        await expect(chain.sender.gasLimit(pay(to, asset, 77n), HOT)).rejects.toMatchObject({
          code: 'SIMULATION_FAILED',
        })
      })

      test('from a blacklisted wallet fails in the simulation (D21)', async () => {
        const { abi, contract, asset } = await deploy('NoReturnToken')
        await evm.sendAndMine({ to: contract, data: call(abi, 'addBlackList', [chain.addresses.hot()]) })
        await expect(chain.sender.gasLimit(pay(fresh(), asset, 1n), HOT)).rejects.toMatchObject({
          code: 'SIMULATION_FAILED',
          retryable: false,
        })
      })

      test('that sweeps a deposit address fails in the simulation while the issuer freezes the address (D21)', async () => {
        const { abi, contract, asset } = await deploy('NoReturnToken')
        const from: KeyPath = { branch: 'deposit', index: next++ }
        const { address } = chain.addresses.deposit(from.index)
        await evm.sendAndMine({ to: contract, data: call(abi, 'mint', [address, 5n]) })
        const sweep = pay(chain.addresses.hot(), asset, 5n)
        const gasLimit = await chain.sender.gasLimit(sweep, from)
        expect(gasLimit).toBeGreaterThan(21_000n)
        await evm.sendAndMine({ to: contract, data: call(abi, 'addBlackList', [address]) })
        const refused = { code: 'SIMULATION_FAILED', retryable: false }
        await expect(chain.sender.gasLimit(sweep, from)).rejects.toMatchObject(refused)
        expect(await balance(address, asset)).toBe(5n)
        // Another address of the same token is swept.
        const other: KeyPath = { branch: 'deposit', index: next++ }
        await evm.sendAndMine({
          to: contract,
          data: call(abi, 'mint', [chain.addresses.deposit(other.index).address, 5n]),
        })
        expect(await chain.sender.gasLimit(sweep, other)).toBe(gasLimit)
      })

      test('to a contract that refuses native currency or needs too much gas fails in the simulation', async () => {
        const refuser = getAddress(await evm.deploy(actors.Refuser, []))
        const eater = getAddress(await evm.deploy(actors.GasEater, []))
        for (const address of [refuser, eater]) {
          await expect(chain.sender.gasLimit(pay(address, native, 1n), HOT)).rejects.toMatchObject({
            code: 'SIMULATION_FAILED',
          })
        }
      })

      test.each(['Halter', 'Spinner'] as const)(
        'to a contract that halts without a revert (%s) fails in the simulation, and does not count as an unavailable node',
        async (name) => {
          const address = getAddress(await evm.deploy(actors[name], []))
          // edr needs seconds for a million gas.
          const { sender } = chainOf([evm.url], { rpc: { timeoutMs: PATIENCE_MS, attempts: 1 } })
          await expect(sender.gasLimit(pay(address, native, 1n), HOT)).rejects.toMatchObject({
            code: 'SIMULATION_FAILED',
            retryable: false,
          })
          await expect(sender.extraGas?.(address)).rejects.toMatchObject({ code: 'SIMULATION_FAILED' })
        },
      )

      test.each([-32000, -32003, -32603, -32005])(
        'waits for a node that refuses every estimate with %i',
        async (code) => {
          second.set(({ method }) =>
            method === 'eth_estimateGas' ? { error: { code, message: 'header not found' } } : undefined,
          )
          await expect(chain.sender.gasLimit(pay(fresh(), native, 1n), HOT)).rejects.toMatchObject({
            code: 'NETWORK_UNAVAILABLE',
          })
          second.set(() => undefined)
        },
      )

      test('to a contract is known to need more gas before the payout', async () => {
        const eater = getAddress(await evm.deploy(actors.GasEater, []))
        const refuser = getAddress(await evm.deploy(actors.Refuser, []))
        expect(await chain.sender.extraGas?.(fresh())).toBe(0n)
        expect(await chain.sender.extraGas?.(eater)).toBeGreaterThan(39_000n)
        await expect(chain.sender.extraGas?.(refuser)).rejects.toMatchObject({ code: 'SIMULATION_FAILED' })
      })

      test('to a contract has a margin of gas', async () => {
        const forwarder = getAddress(await evm.deploy(actors.Forwarder, []))
        expect(await chain.sender.gasLimit(pay(forwarder, native, 1n), HOT)).toBeGreaterThan(25_000n)
      })

      test('above the balance of the wallet throws INSUFFICIENT_LIQUIDITY', async () => {
        const { asset } = await deploy('StandardToken')
        for (const [of, units] of [
          [asset, 10n ** 12n + 1n],
          [native, 10n ** 21n],
        ] as const) {
          await expect(chain.sender.gasLimit(pay(fresh(), of, units), HOT)).rejects.toMatchObject({
            code: 'INSUFFICIENT_LIQUIDITY',
          })
        }
      })

      test('that reverts on chain is included and not ok', async () => {
        const { abi, contract, asset } = await deploy('NoReturnToken')
        const unsigned = await build(fresh(), asset, 1n)
        await evm.sendAndMine({ to: contract, data: call(abi, 'addBlackList', [chain.addresses.hot()]) })
        await chain.sender.broadcast(sign(unsigned).raw)
        await evm.mine()
        expect(await observe(unsigned)).toMatchObject({ kind: 'included', ok: false })
      })

      test('that sweeps a deposit address leaves at most the maximum fee', async () => {
        const path: KeyPath = { branch: 'deposit', index: 4001 }
        const { address } = chain.addresses.deposit(path.index)
        await evm.sendAndMine({ to: address, value: 10n ** 18n })
        const unsigned = await build(chain.addresses.hot(), native, 10n ** 18n, {
          from: path,
          nonce: 0,
          sweepAll: true,
        })
        expect((await chain.sender.broadcast(sign(unsigned).raw)).kind).toBe('accepted')
        await evm.mine()
        expect(await observe(unsigned)).toMatchObject({ kind: 'included', ok: true })
        expect(await balance(address, native)).toBeLessThan(unsigned.feeUnits)
      })
    })

    describe('a replacement', () => {
      test('invalidates the replaced transaction once it is final', async () => {
        const to = fresh()
        const first = await build(to, native, 9n)
        expect((await chain.sender.broadcast(sign(first).raw)).kind).toBe('accepted')
        const replacement = await build(to, native, 9n, { nonce: nonce - 1, replaces: first })
        expect(replacement.conflictKey).toBe(first.conflictKey)
        expect((await chain.sender.broadcast(sign(replacement).raw)).kind).toBe('accepted')
        const height = await evm.mine()
        expect(await observe(replacement)).toMatchObject({ kind: 'included', ok: true, block: { height } })
        expect((await observe(first)).kind).toBe('unseen')
        expect(await chain.sender.broadcast(sign(first).raw)).toMatchObject({
          kind: 'rejected',
          reason: expect.stringMatching(/is used$/),
        })
        await evm.mine(network.finalityBlocks - 1)
        expect((await observe(first)).kind).toBe('unseen')
        const top = await evm.mine()
        const { hash } = (await chain.reader.block(height)) ?? {}
        expect(await observe(first)).toMatchObject({
          kind: 'invalidated',
          proof: {
            conflictingTxHash: sign(replacement).txHash,
            height,
            hash,
            finalHeight: top - network.finalityBlocks,
            nodes: 2,
          },
        })
        expect(await observe(replacement)).toMatchObject({ kind: 'included' })
        expect(await balance(to, native)).toBe(9n)
      })

      test('without a higher fee is rejected by the nodes', async () => {
        const first = await build(fresh(), native, 9n)
        await chain.sender.broadcast(sign(first).raw)
        const same = await build(fresh(), native, 10n, { nonce: nonce - 1 })
        expect(await chain.sender.broadcast(sign(same).raw)).toMatchObject({ kind: 'rejected' })
        await evm.mine()
      })

      test('that a reorganisation orphans can be broadcast again', async () => {
        const to = fresh()
        const first = await build(to, native, 3n)
        await chain.sender.broadcast(sign(first).raw)
        await evm.mine()
        expect((await observe(first)).kind).toBe('included')
        const { block: orphan } = (await observe(first)) as Extract<Observation, { kind: 'included' }>
        await evm.reorg(1)
        if (client.returnsOrphans) {
          expect(await observe(first)).toMatchObject({ kind: 'included', ok: true, block: { height: orphan.height } })
          expect(await observe(first)).not.toMatchObject({ block: orphan })
          expect((await chain.sender.broadcast(sign(first).raw)).kind).toBe('known')
        } else {
          expect((await observe(first)).kind).toBe('unseen')
          expect((await chain.sender.broadcast(sign(first).raw)).kind).toBe('accepted')
        }
        await evm.mine()
        expect(await balance(to, native)).toBe(3n)
      })
    })

    describe('the conflict proof', () => {
      async function replacedAndFinal() {
        const to = fresh()
        const first = await build(to, native, 2n)
        const replacement = await build(to, native, 2n, { nonce: nonce - 1, replaces: first })
        await chain.sender.broadcast(sign(replacement).raw)
        await evm.mine(network.finalityBlocks + 2)
        return { first, replacement }
      }

      test('does not follow from a missing receipt', async () => {
        const { replacement } = await replacedAndFinal()
        const { txHash } = sign(replacement)
        const forgetful = await startFaultyNode(evm.url)
        forgetful.set(({ method, params }) =>
          params[0] === txHash && /Receipt$|ByHash$/.test(method) ? { result: null } : undefined,
        )
        const blind = chainOf([forgetful.url])
        expect(await blind.sender.observe({ txHash, conflictKey: replacement.conflictKey })).toEqual({ kind: 'unseen' })
        await forgetful.stop()
      })

      test('does not exist while one node lags behind finality', async () => {
        const { first } = await replacedAndFinal()
        const head = Number(await evm.request('eth_blockNumber', []))
        second.set(({ method }) => (method === 'eth_blockNumber' ? { result: hex(head - 4) } : undefined))
        expect(await observe(first)).toEqual({ kind: 'unseen' })
        second.set(() => undefined)
        expect(await observe(first)).toMatchObject({ kind: 'invalidated' })
      })

      test('does not exist if a node has pruned the state, which is noted', async () => {
        const { first } = await replacedAndFinal()
        second.set(({ method, params }) =>
          method === 'eth_getTransactionCount' && params[1] !== 'latest'
            ? { error: { code: -32000, message: 'missing trie node' } }
            : undefined,
        )
        chain.notes.length = 0
        expect(await observe(first)).toEqual({ kind: 'unseen' })
        expect(chain.notes).toContainEqual(expect.objectContaining({ kind: 'state-pruned' }))
        second.set(() => undefined)
      })

      test('does not need old states if the operator names the transaction that used the nonce', async () => {
        const { first, replacement } = await replacedAndFinal()
        const unrelated = await evm.send({ to: fresh(), value: 1n })
        await evm.mine(network.finalityBlocks + 2)
        second.set(({ method, params }) =>
          method === 'eth_getTransactionCount' && params[1] !== 'latest'
            ? { error: { code: -32000, message: 'missing trie node' } }
            : undefined,
        )
        const watched = { txHash: sign(first).txHash, conflictKey: first.conflictKey }
        const named = (hash: string) => chain.sender.observe({ ...watched, conflictingTxHash: hash })
        for (const wrong of [unrelated, watched.txHash, `0x${'0'.repeat(64)}`, 'nothing'])
          expect(await named(wrong)).toEqual({ kind: 'unseen' })
        const { txHash } = sign(replacement)
        expect(await named(txHash)).toMatchObject({ kind: 'invalidated', proof: { conflictingTxHash: txHash } })
        second.set(({ params }) => (params[0] === txHash || params[1] === true ? { result: null } : undefined))
        expect((await named(txHash)).kind).not.toBe('invalidated')
        second.set(() => undefined)
      })

      test('fails if a node does not answer', async () => {
        const { first } = await replacedAndFinal()
        second.set(() => ({ status: 503 }))
        await expect(observe(first)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
        second.set(() => undefined)
      })
    })

    describe('a broadcast', () => {
      test('without an answer is unknown, unless the node has the transaction', async () => {
        const unsigned = await build(fresh(), native, 1n)
        const { raw } = sign(unsigned)
        const alone = chainOf([second.url], { rpc: { timeoutMs: 500, attempts: 1 } })
        second.set(({ method }) => (method === 'eth_sendRawTransaction' ? 'silence' : undefined))
        expect((await alone.sender.broadcast(raw)).kind).toBe('unknown')
        // The node accepts, but its answer is lost.
        second.set(async ({ method }, forward) => {
          if (method !== 'eth_sendRawTransaction') return undefined
          await forward()
          return { status: 502 }
        })
        expect(await alone.sender.broadcast(raw)).toEqual({ kind: 'known' })
        second.set(() => undefined)
        await evm.mine()
        expect((await observe(unsigned)).kind).toBe('included')
      })

      test('is accepted if one node accepts, even if another rejects', async () => {
        const unsigned = await build(fresh(), native, 1n)
        second.set(({ method }) =>
          method === 'eth_sendRawTransaction' ? { error: { code: -32000, message: 'no' } } : undefined,
        )
        expect((await chain.sender.broadcast(sign(unsigned).raw)).kind).toBe('accepted')
        second.set(() => undefined)
        await evm.mine()
      })

      test('is unknown if one node rejects and another gives an unspecific error', async () => {
        const unsigned = await build(fresh(), native, 1n)
        nonce--
        const refusing = await startFaultyNode(evm.url)
        refusing.set(({ method }) =>
          method === 'eth_sendRawTransaction' ? { error: { code: -32000, message: 'no' } } : undefined,
        )
        second.set(({ method }) =>
          method === 'eth_sendRawTransaction' ? { error: { code: -32603, message: 'oops' } } : undefined,
        )
        const both = chainOf([refusing.url, second.url])
        expect((await both.sender.broadcast(sign(unsigned).raw)).kind).toBe('unknown')
        second.set(() => undefined)
        await refusing.stop()
      })
    })

    describe('fees', () => {
      test('are twice the next base fee plus the tip, limited by the caps', async () => {
        const { baseFeePerGas } = await evm.request<{ baseFeePerGas: string[] }>('eth_feeHistory', [
          '0x1',
          'latest',
          [],
        ])
        const { rate, tip } = await chain.reader.feeRate()
        expect(rate).toBe(2n * BigInt(baseFeePerGas.at(-1) ?? 0) + tip)
        const capped = chainOf([evm.url], { caps: { rate: 10n ** 18n, tip: 5n } })
        expect((await capped.reader.feeRate()).tip).toBe(5n)
        const tight = chainOf([evm.url], { caps: { rate: 1n, tip: 1n } })
        await expect(tight.reader.feeRate()).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
      })

      test('of a chain without EIP-1559 are 125 % of its gas price, and its transactions are legacy', async () => {
        const parameters = { chainId: network.evm?.chainId ?? 0, finalityTag: null, dynamicFees: false }
        const old = chainOf([evm.url], { network: { ...network, evm: parameters } })
        const fee = await old.reader.feeRate()
        const price = BigInt(await evm.request('eth_gasPrice', []))
        expect(fee.tip).toBe(0n)
        expect(fee.rate).toBe(((price * 5n) / 8n) * 2n)
        const unsigned = old.sender.build({
          payments: [pay(fresh(), native, 1n)],
          from: HOT,
          fee,
          nonce: nonce++,
          gasLimit: 21_000n,
          utxos: [],
          changeIndex: 0,
          replaces: null,
          sweepAll: false,
        })
        const { raw } = sign(unsigned)
        expect(parseTransaction(raw as `0x${string}`).type).toBe('legacy')
        expect((await old.sender.broadcast(raw)).kind).toBe('accepted')
        await evm.mine()
        expect((await observe(unsigned)).kind).toBe('included')
      })

      test('of the OP stack include the layer-1 fee', async () => {
        const oracle = await evm.deploy(actors.L1Oracle, [])
        const code = await evm.request<string>('eth_getCode', [oracle, 'latest'])
        const predeploy = '0x420000000000000000000000000000000000000F'
        await evm.setCode(predeploy, code)
        const fee = await chain.reader.feeRate()
        // 200 bytes at 1 gwei, plus a margin of 50 %.
        expect(fee.l1Fee).toBe(300n * 10n ** 9n)
        expect(chain.sender.payoutFee(native, fee)).toBe(25_200n * fee.rate + 300n * 10n ** 9n)
        const isthmus = await evm.deploy(actors.IsthmusOracle, [])
        await evm.setCode(predeploy, await evm.request<string>('eth_getCode', [isthmus, 'latest']))
        // And the operator's fee of 78 000 gas, without a margin.
        expect((await chain.reader.feeRate()).l1Fee).toBe(300n * 10n ** 9n + 156_007n)
        await evm.setCode(predeploy, '0x')
        expect((await chain.reader.feeRate()).l1Fee).toBeUndefined()
      })
    })
  })
}
