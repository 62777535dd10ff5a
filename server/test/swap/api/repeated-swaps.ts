import { expect } from 'vitest'
import { whileMiningPaused } from '../../../../test/support/mining.ts'
import type { Json } from '../../../../test/support/scenario.ts'
import { type Stage, sign } from './partner.ts'
import { buildSwap, sendBody } from './refused-swaps.ts'

/** A swap has one row, however often it is sent, before and after it is mined. */
export async function isOneRow(stage: Stage): Promise<void> {
  const user = await stage.user()
  const rawTx = await sign(user, await buildSwap(stage, user))
  const hash = await whileMiningPaused(stage.scenario, stage.network, async () => {
    const answers = await Promise.all([1, 2, 3].map(() => stage.send({ ...sendBody(stage, user), rawTx })))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
    await stage.scenario.mine(stage.network, 1)
    const [hash = ''] = answers.map(({ body }): string => JSON.parse(body))
    await stage.becomes(hash, 'confirming')
    return hash
  })
  await stage.scenario.mine(stage.network, 2)
  await stage.becomes(hash, 'finished')
  expect(JSON.parse((await stage.send({ ...sendBody(stage, user), rawTx })).body)).toBe(hash)
  const own = (await stage.rows()).filter((one: Json) => one.hash === hash)
  expect(own).toHaveLength(1)
  expect(own[0].status).toBe('finished')
}

/** Rejects a second swap with the same nonce. */
export async function refusesAUsedNonce(stage: Stage): Promise<void> {
  const user = await stage.user()
  const raw = await buildSwap(stage, user)
  const first = await sign(user, raw)
  const second = await sign(user, await buildSwap(stage, user))
  expect((await stage.send({ ...sendBody(stage, user), rawTx: first })).status).toBe(201)
  await stage.scenario.mine(stage.network, 1)
  const late = await stage.send({ ...sendBody(stage, user), rawTx: second })
  expect(late.body).toMatchObject({ statusCode: 409, code: 'NONCE_CONFLICT' })
  const row = (await stage.rows()).find((one: Json) => one.status === 'failed' && one.addressFrom === user.address)
  expect(row).toMatchObject({ statusReason: 'rejected' })
}

/** The user broadcasts the swap and reports only its hash. */
export async function isReportedByHash(stage: Stage): Promise<void> {
  const user = await stage.user()
  const serializedTransaction = await sign(user, await buildSwap(stage, user))
  const hash = await stage.client.sendRawTransaction({ serializedTransaction })
  const answer = await stage.send({ ...sendBody(stage, user), hash: hash.toUpperCase().replace('0X', '0x') })
  expect(JSON.parse(answer.body)).toBe(hash)
  await stage.scenario.mine(stage.network, 3)
  const row = await stage.becomes(hash, 'finished')
  expect(row).toMatchObject({ addressFrom: user.address, addressTo: user.address })
  // Another partner cannot claim it (B153, B155).
  expect((await stage.send({ ...sendBody(stage, user), hash }, { 'x-api-key': 'sandbox-b' })).status).toBe(400)
}
