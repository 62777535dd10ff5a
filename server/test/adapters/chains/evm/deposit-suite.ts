import { getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TraceMethod } from '../../../../src/adapters/chains/evm/node.ts'
import type { ScannedBlock, Transfer } from '../../../../src/exchange/ports/chain.ts'
import { type FaultyNode, startFaultyNode } from './faulty-node.ts'
import { call, hex, type Sent, type TestNode } from './test-node.ts'
import { type ActorName, type Compiled, type TokenName, testActors, testTokens } from './tokens.ts'
import { chainOf } from './wallet.ts'

/** How the client traces blocks, and whether orphaned transactions return to the pool. */
export type DepositClient = Readonly<{ name: string; method: TraceMethod; returnsOrphans: boolean }>

/** Tests of the scan of deposits on a client. */
export function describeDeposits(client: DepositClient, start: () => Promise<TestNode>): void {
  const { name, method, returnsOrphans } = client
  describe(`deposits by ${method} of ${name}`, () => {
    let evm: TestNode
    let node: FaultyNode
    let chain: ReturnType<typeof chainOf>
    let tokens: Readonly<Record<TokenName, Compiled>>
    let actors: Readonly<Record<ActorName, Compiled>>
    let forwarder: string
    let bank: string
    let next = 1000

    beforeAll(async () => {
      ;[evm, tokens, actors] = await Promise.all([start(), testTokens(), testActors()])
      node = await startFaultyNode(evm.url)
      if (method !== 'trace_block') {
        node.set((request) => (request.method === 'trace_block' ? { error: { code: -32601, message: '' } } : undefined))
      }
      chain = chainOf([node.url])
      forwarder = await evm.deploy(actors.Forwarder, [])
      bank = getAddress(evm.accounts[0] ?? '')
    })
    afterAll(async () => {
      await Promise.all([evm?.stop(), node?.stop()])
    })

    /** A deposit address without payments. */
    const fresh = () => chain.addresses.deposit(next++).address

    async function scan(height: number): Promise<ScannedBlock> {
      const block = await chain.reader.block(height)
      if (!block) throw new Error('no block')
      return block
    }

    async function paid(sent: Sent, address: string) {
      const { txHash, height } = await evm.sendAndMine(sent)
      const block = await scan(height)
      return { txHash, block, transfers: block.transfers.filter((one) => one.address === address) }
    }

    const received = (transfer: Transfer | undefined, block: ScannedBlock) => {
      if (!transfer) throw new Error('the scan found no transfer')
      return chain.reader.receivedUnits(transfer, block)
    }

    async function deploy(name: TokenName, ...more: bigint[]) {
      const { abi } = tokens[name]
      const contract = getAddress(await evm.deploy(tokens[name], ['Test', 'TST', 6, ...more]))
      await evm.sendAndMine({ to: contract, data: call(abi, 'mint', [bank, 10n ** 12n]) })
      const transfer = (to: string, units: bigint) => ({ to: contract, data: call(abi, 'transfer', [to, units]) })
      return { abi, contract, transfer }
    }

    const forward = (name: string, to: string, value: bigint): Sent => ({
      to: forwarder,
      value,
      data: call(actors.Forwarder.abi, name, [to]),
    })

    test('the node offers traces', async () => {
      expect(await chain.hasTraces()).toBe(true)
    })

    test('a native transfer of a wallet has the transaction hash as identity and a sender for refunds', async () => {
      const ours = fresh()
      const { txHash, block, transfers } = await paid({ to: ours, value: 5n }, ours)
      expect(transfers).toEqual([
        { identity: txHash, txHash, address: ours, memo: null, contract: null, units: 5n, sender: bank },
      ])
      expect(block.transactions).toContainEqual(expect.objectContaining({ txHash, sender: bank, spends: [] }))
      expect(await received(transfers[0], block)).toBe(5n)
    })

    test('a native transfer of a contract is read from the traces', async () => {
      const ours = fresh()
      const { txHash, block, transfers } = await paid(forward('forward', ours, 7n), ours)
      expect(transfers).toEqual([
        { identity: `${txHash}:trace:0`, txHash, address: ours, memo: null, contract: null, units: 7n, sender: null },
      ])
      expect(await received(transfers[0], block)).toBe(7n)
    })

    test('two native transfers of a contract in one transaction are two deposits', async () => {
      const ours = fresh()
      const { txHash, block, transfers } = await paid(forward('forwardTwice', ours, 10n), ours)
      expect(transfers.map(({ identity, units }) => [identity, units])).toEqual([
        [`${txHash}:trace:0`, 5n],
        [`${txHash}:trace:1.0`, 5n],
      ])
      for (const transfer of transfers) expect(await received(transfer, block)).toBe(5n)
    })

    test('an internal transfer keeps its path if the transaction makes other calls', async () => {
      const ours = fresh()
      const { txHash, transfers } = await paid(forward('forwardAmidNoise', ours, 3n), ours)
      expect(transfers.map(({ identity }) => identity)).toEqual([`${txHash}:trace:0`])
    })

    test('D10 a failed transaction makes no deposit', async () => {
      const ours = fresh()
      const { transfers } = await paid(forward('forwardAndRevert', ours, 9n), ours)
      expect(transfers).toEqual([])
      const refuser = getAddress(await evm.deploy(actors.Refuser, []))
      expect((await paid({ to: refuser, value: 1n }, refuser)).transfers).toEqual([])
    })

    test('D11 a reverted internal transfer is no deposit', async () => {
      const ours = fresh()
      const { transfers } = await paid(forward('forwardInVain', ours, 9n), ours)
      expect(transfers).toEqual([])
    })

    test('D12 native currency forced by a selfdestruct is no deposit, although the balance rises', async () => {
      const ours = fresh()
      const height = await evm.deploy(actors.Exploder, [ours], 11n).then(() => evm.request('eth_blockNumber', []))
      const { transfers } = await scan(Number(height))
      expect(transfers.filter(({ address }) => address === ours)).toEqual([])
      expect(BigInt(await evm.request('eth_getBalance', [ours, 'latest']))).toBe(11n)
    })

    test('D13 the value of a contract creation is no deposit; a payment by its constructor is', async () => {
      const ours = fresh()
      const contract = await evm.deploy(actors.PayingConstructor, [`0x${'00'.repeat(20)}`], 4n)
      const first = await scan(Number(await evm.request('eth_blockNumber', [])))
      expect(first.transfers).toEqual([])
      expect(BigInt(await evm.request('eth_getBalance', [contract, 'latest']))).toBe(4n)
      await evm.deploy(actors.PayingConstructor, [ours], 6n)
      const block = await scan(Number(await evm.request('eth_blockNumber', [])))
      const [transfer, ...others] = block.transfers.filter(({ address }) => address === ours)
      expect([transfer?.identity, transfer?.units, others]).toEqual([`${transfer?.txHash}:trace:0`, 6n, []])
      expect(await received(transfer, block)).toBe(6n)
    })

    test('D14 a transfer of zero is no deposit, native or token', async () => {
      const ours = fresh()
      const { transfer } = await deploy('StandardToken')
      expect((await paid({ to: ours, value: 0n }, ours)).transfers).toEqual([])
      expect((await paid(transfer(ours, 0n), ours)).transfers).toEqual([])
    })

    test('a token deposit has the hash and its log index as identity', async () => {
      const ours = fresh()
      const { contract, transfer } = await deploy('StandardToken')
      const { txHash, block, transfers } = await paid(transfer(ours, 21n), ours)
      expect(transfers).toEqual([
        { identity: `${txHash}:${contract}:0`, txHash, address: ours, memo: null, contract, units: 21n, sender: bank },
      ])
      expect(await received(transfers[0], block)).toBe(21n)
    })

    test('a token transfer from a third account has no sender for refunds', async () => {
      const ours = fresh()
      const { abi, contract } = await deploy('StandardToken')
      const spender = evm.accounts[1] ?? ''
      await evm.sendAndMine({ to: contract, data: call(abi, 'approve', [spender, 30n]) })
      const data = call(abi, 'transferFrom', [bank, ours, 30n])
      const { transfers } = await paid({ to: contract, data, from: spender }, ours)
      expect(transfers.map(({ units, sender }) => [units, sender])).toEqual([[30n, null]])
    })

    test('D15 a token with the name of another is reported with its own contract', async () => {
      const ours = fresh()
      const [real, fake] = [await deploy('StandardToken'), await deploy('LyingToken')]
      const { transfers } = await paid(fake.transfer(ours, 8n), ours)
      expect(transfers.map(({ contract }) => contract)).toEqual([fake.contract])
      expect(fake.contract).not.toBe(real.contract)
    })

    test('D16 a false Transfer event gives zero received units, also if claimed for another token', async () => {
      const ours = fresh()
      const [real, fake] = [await deploy('StandardToken'), await deploy('LyingToken')]
      const data = call(fake.abi, 'state', [bank, ours, 1_000n])
      const { block, transfers } = await paid({ to: fake.contract, data }, ours)
      expect(transfers.map(({ contract, units }) => [contract, units])).toEqual([[fake.contract, 1_000n]])
      expect(await received(transfers[0], block)).toBe(0n)
      const [lie] = transfers
      expect(await received(lie && { ...lie, contract: real.contract }, block)).toBe(0n)
      expect(await received(lie && { ...lie, contract: null }, block)).toBe(0n)
    })

    test('D17 a transfer fee reduces the received units, in proportion for several transfers', async () => {
      const ours = fresh()
      const { transfer } = await deploy('FeeToken', 250n)
      const { block, transfers } = await paid(transfer(ours, 10_000n), ours)
      expect(transfers.map(({ units }) => units)).toEqual([10_000n])
      expect(await received(transfers[0], block)).toBe(9_750n)

      await evm.send(transfer(ours, 1_000n))
      await evm.send(transfer(ours, 3_000n))
      const both = await scan(await evm.mine())
      const mine = both.transfers.filter(({ address }) => address === ours)
      expect(await Promise.all(mine.map((one) => received(one, both)))).toEqual([975n, 2_925n])
    })

    test('D18 a transferFrom of zero by anyone is no deposit', async () => {
      const ours = fresh()
      const { abi, contract } = await deploy('LyingToken')
      const data = call(abi, 'transferFrom', [bank, ours, 0n])
      expect((await paid({ to: contract, data }, ours)).transfers).toEqual([])
    })

    test('D19 a rebase in the same block can reduce the received units, but not raise them', async () => {
      const ours = fresh()
      const { abi, contract, transfer } = await deploy('RebasingToken')
      for (const [scaleBps, expected] of [
        [5_000n, 500n],
        [20_000n, 1_000n],
      ] as const) {
        const other = scaleBps === 5_000n ? ours : fresh()
        await evm.sendAndMine({ to: contract, data: call(abi, 'rebase', [10_000n]) })
        await evm.send(transfer(other, 1_000n))
        await evm.send({ to: contract, data: call(abi, 'rebase', [scaleBps]) })
        const block = await scan(await evm.mine())
        expect(
          await received(
            block.transfers.find(({ address }) => address === other),
            block,
          ),
        ).toBe(expected)
      }
    })

    test('D20 a transfer that returns false is no deposit', async () => {
      const ours = fresh()
      const { abi, contract, transfer } = await deploy('FalseToken')
      await evm.sendAndMine({ to: contract, data: call(abi, 'refuse', [true]) })
      expect((await paid(transfer(ours, 5n), ours)).transfers).toEqual([])
    })

    test('D21 a deposit that the issuer destroys in the same block gives zero received units', async () => {
      const ours = fresh()
      const { abi, contract, transfer } = await deploy('NoReturnToken')
      await evm.send(transfer(ours, 40n))
      await evm.send({ to: contract, data: call(abi, 'addBlackList', [ours]) })
      await evm.send({ to: contract, data: call(abi, 'destroyBlackFunds', [ours]) })
      const block = await scan(await evm.mine())
      expect(
        await received(
          block.transfers.find(({ address }) => address === ours),
          block,
        ),
      ).toBe(0n)
    })

    test('D22 a deposit of an orphaned block is not received, and its block is not agreed', async () => {
      const ours = fresh()
      const { transfer } = await deploy('StandardToken')
      const { block, transfers } = await paid(transfer(ours, 50n), ours)
      expect(await chain.reader.agrees(block)).toBe(true)
      await evm.reorg(1)
      expect(await chain.reader.agrees(block)).toBe(false)
      await expect(received(transfers[0], block)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
      const instead = await scan(block.height)
      expect(instead.hash).not.toBe(block.hash)
      const mined = instead.transfers.filter(({ address }) => address === ours)
      expect(mined).toEqual(returnsOrphans ? transfers : [])
      for (const transfer of mined) expect(await received(transfer, instead)).toBe(50n)
    })

    test('a sweep in the block of a deposit does not reduce the received units', async () => {
      const ours = fresh()
      const { abi, contract, transfer } = await deploy('StandardToken')
      await evm.send({ to: ours, value: 10n ** 18n })
      await evm.send(transfer(ours, 60n))
      await evm.mine()
      await evm.impersonate(ours)
      await evm.send({ to: ours, value: 10n ** 17n })
      await evm.send(transfer(ours, 70n))
      await evm.send({ from: ours, to: contract, data: call(abi, 'transfer', [bank, 130n]) })
      await evm.send({ from: ours, to: bank, value: 9n * 10n ** 17n, gas: 21_000n })
      const block = await scan(await evm.mine())
      const mine = block.transfers.filter(({ address }) => address === ours)
      expect(mine.map(({ contract: of, units }) => [of, units])).toEqual([
        [null, 10n ** 17n],
        [contract, 70n],
      ])
      expect(await Promise.all(mine.map((one) => received(one, block)))).toEqual([10n ** 17n, 70n])
    })

    test('a transfer of the native token contract (Celo) counts as native', async () => {
      const ours = fresh()
      const { contract, transfer } = await deploy('StandardToken')
      const celo = chainOf([node.url], { nativeContract: contract })
      const { height } = await evm.sendAndMine(transfer(ours, 90n))
      const block = await celo.reader.block(height)
      const transfers = (block?.transfers ?? []).filter(({ address }) => address === ours)
      expect(transfers.map((one) => [one.contract, one.units])).toEqual([[null, 90n]])
      // On this chain the native balance did not change, so the received units are 0.
      expect(block && transfers[0] && (await celo.reader.receivedUnits(transfers[0], block))).toBe(0n)
      expect(celo.addresses.parse(contract)).toBeNull()
    })

    test('a block names its parent, and a block above the head is null', async () => {
      const height = await evm.mine(2)
      const [parent, block] = [await scan(height - 1), await scan(height)]
      expect(block.parentHash).toBe(parent.hash)
      expect(await chain.reader.block(height + 1)).toBeNull()
      expect(await chain.reader.head()).toEqual({ height, hash: block.hash })
      expect(BigInt(block.time)).toBe(
        BigInt((await evm.request<{ timestamp: string }>('eth_getBlockByNumber', [hex(height), false])).timestamp),
      )
    })

    test('pending transfers are reported once, token transfers from their calldata', async () => {
      await evm.mine()
      await chain.reader.mempool()
      const [ours, theirs] = [fresh(), fresh()]
      const { contract, transfer } = await deploy('StandardToken')
      const txHash = await evm.send({ to: ours, value: 15n })
      const tokenHash = await evm.send(transfer(theirs, 16n))
      const pending = await chain.reader.mempool()
      expect(pending.map(({ identity, address, contract: of, units }) => [identity, address, of, units])).toEqual([
        [txHash, ours, null, 15n],
        [`${tokenHash}:pending`, theirs, contract, 16n],
      ])
      expect(await chain.reader.mempool()).toEqual([])
      await evm.mine()
    })
  })
}
