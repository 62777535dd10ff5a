import { randomUUID } from 'node:crypto'
import type {
  Acceptance,
  Invitation,
  ListedOperator,
  ListedPasskey,
  Operator,
  OperatorStore,
  Passkey,
} from '../../../admin/ports/operators.ts'
import { type Database, hasRow, type Sql } from '../core/database.ts'
import { uuidOrNull } from '../core/ids.ts'

const OPERATOR = `select o.id, o.login, o.role, o.password_hash as "passwordHash", o.totp_secret as "totpSecret",
  o.disabled_at is not null as disabled, (select count(*)::int from operator_passkeys p where p.operator_id = o.id) as passkeys,
  encode(sha256(convert_to(jsonb_build_array(o.password_hash, o.totp_secret,
    (select jsonb_agg(p.id order by p.id) from operator_passkeys p where p.operator_id = o.id),
    (select jsonb_agg(c.hash order by c.hash) from operator_recovery_codes c where c.operator_id = o.id))::text, 'UTF8')),
    'hex') as credentials
  from operators o`
const LISTED_MAX = 1_000

export function createOperatorStore(database: Database): OperatorStore {
  const findOne = async (where: string, value: string) =>
    (await database.query<Operator>(`${OPERATOR} where ${where}`, [value]))[0] ?? null
  return {
    find: (login) => findOne('o.login = $1', login),
    findById: (id) => findOne('o.id = $1', id),
    list: () =>
      database.query<ListedOperator>(
        `select login, role, disabled_at is not null as disabled, password_hash is not null as accepted,
           totp_secret is not null as authenticator,
           (select count(*)::int from operator_passkeys p where p.operator_id = o.id) as passkeys,
           created_by as "createdBy", created_at as "createdAt", last_login_at as "lastLoginAt"
         from operators o order by login limit $1`,
        [LISTED_MAX],
      ),
    async row(login) {
      const [row] = await database.query<{ row: Record<string, unknown> }>(
        `select jsonb_build_object('login', login, 'role', role, 'disabled', disabled_at is not null,
           'accepted', password_hash is not null) as row from operators where login = $1`,
        [login],
      )
      return row?.row ?? null
    },
    async add({ login, role, createdBy }) {
      const [row] = await database.query<{ id: string }>(
        `insert into operators (id, login, role, created_by) values ($1, $2, $3, $4) on conflict (login) do nothing returning id`,
        [randomUUID(), login, role, createdBy],
      )
      return row?.id ?? null
    },
    setRole: (login, role) =>
      hasRow(database, 'update operators set role = $2 where login = $1 returning 1', [login, role]),
    async setDisabled(login, disabled) {
      const [row] = await database.query<{ id: string }>(
        'update operators set disabled_at = case when $2 then clock_timestamp() end where login = $1 returning id',
        [login, disabled],
      )
      if (row && disabled) await endSessions(database, row.id)
      return row !== undefined
    },
    reset: (id) => reset(database, id),
    async setPassword(id, passwordHash) {
      await database.query('update operators set password_hash = $2 where id = $1', [id, passwordHash])
    },
    async noteLogin(id) {
      await database.query('update operators set last_login_at = clock_timestamp() where id = $1', [id])
    },
    takeTotpStep: (id, step) =>
      hasRow(database, 'update operators set totp_step = $2 where id = $1 and totp_step < $2 returning 1', [id, step]),
    takeRecoveryCode: (id, hash) =>
      hasRow(
        database,
        `update operator_recovery_codes set used_at = clock_timestamp()
         where operator_id = $1 and hash = $2 and used_at is null returning 1`,
        [id, hash],
      ),
    setRecoveryCodes: (id, hashes) => database.transaction((tx) => setRecoveryCodes(tx, id, hashes)),
    async lock(id) {
      await database.query('select 1 from operators where id = $1 for update', [id])
    },
    ...invitationsOf(database),
    ...passkeysOf(database),
  }
}

async function setRecoveryCodes(sql: Sql, operatorId: string, hashes: readonly Buffer[]): Promise<void> {
  await sql.query('delete from operator_recovery_codes where operator_id = $1', [operatorId])
  await sql.query('insert into operator_recovery_codes (operator_id, hash) select $1, unnest($2::bytea[])', [
    operatorId,
    hashes,
  ])
}

async function endSessions(sql: Sql, operatorId: string): Promise<void> {
  await sql.query(
    'update operator_sessions set revoked_at = clock_timestamp() where operator_id = $1 and revoked_at is null',
    [operatorId],
  )
}

const reset = (database: Database, id: string): Promise<void> =>
  database.transaction(async (tx) => {
    await tx.query('update operators set password_hash = null, totp_secret = null where id = $1', [id])
    await tx.query('delete from operator_passkeys where operator_id = $1', [id])
    await tx.query('delete from operator_recovery_codes where operator_id = $1', [id])
    await tx.query(
      'update operator_invitations set used_at = clock_timestamp() where operator_id = $1 and used_at is null',
      [id],
    )
    await endSessions(tx, id)
  })

function invitationsOf(database: Database): Pick<OperatorStore, 'invite' | 'findInvitation' | 'accept'> {
  return {
    async invite(operatorId, { hash, totpSecret, createdBy, lifetimeMs }) {
      await database.query(
        `insert into operator_invitations (hash, operator_id, totp_secret, created_by, expires_at)
         values ($1, $2, $3, $4, clock_timestamp() + $5::bigint * interval '1 millisecond')`,
        [hash, operatorId, totpSecret, createdBy, lifetimeMs],
      )
    },
    async findInvitation(hash) {
      const [row] = await database.query<Invitation>(
        `select i.operator_id as "operatorId", o.login, o.role, i.totp_secret as "totpSecret"
         from operator_invitations i join operators o on o.id = i.operator_id
         where i.hash = $1 and i.used_at is null and i.expires_at > clock_timestamp() and o.disabled_at is null`,
        [hash],
      )
      return row ?? null
    },
    accept: (hash, acceptance) => accept(database, hash, acceptance),
  }
}

const accept = (database: Database, hash: Buffer, acceptance: Acceptance): Promise<boolean> =>
  database.transaction(async (tx) => {
    const [used] = await tx.query<{ id: string }>(
      `update operator_invitations set used_at = clock_timestamp()
       where hash = $1 and used_at is null and expires_at > clock_timestamp() returning operator_id as id`,
      [hash],
    )
    if (!used) return false
    const { passwordHash, totpSecret, totpStep, recoveryHashes } = acceptance
    await tx.query('update operators set password_hash = $2, totp_secret = $3, totp_step = $4 where id = $1', [
      ...[used.id, passwordHash, totpSecret, totpStep],
    ])
    await setRecoveryCodes(tx, used.id, recoveryHashes)
    await endSessions(tx, used.id)
    return true
  })

const PASSKEY = `select id, operator_id as "operatorId", public_key as "publicKey", counter::float8 as counter, transports
  from operator_passkeys`

type PasskeyStore = Pick<
  OperatorStore,
  | 'passkeysOf'
  | 'findPasskey'
  | 'addPasskey'
  | 'listPasskeys'
  | 'removePasskey'
  | 'usePasskey'
  | 'addChallenge'
  | 'takeChallenge'
>

function passkeysOf(database: Database): PasskeyStore {
  return {
    passkeysOf: (operatorId) => database.query<Passkey>(`${PASSKEY} where operator_id = $1`, [operatorId]),
    async findPasskey(id) {
      const [row] = await database.query<Passkey>(`${PASSKEY} where id = $1`, [id])
      return row ?? null
    },
    addPasskey: ({ id, operatorId, publicKey, counter, transports, name }) =>
      hasRow(
        database,
        `insert into operator_passkeys (id, operator_id, public_key, counter, transports, name)
         values ($1, $2, $3, $4, $5, $6) on conflict do nothing returning 1`,
        [id, operatorId, publicKey, counter, transports, name],
      ),
    listPasskeys: (operatorId) =>
      database.query<ListedPasskey>(
        `select id, name, created_at as "createdAt", last_used_at as "lastUsedAt" from operator_passkeys
         where operator_id = $1 order by created_at, id`,
        [operatorId],
      ),
    async removePasskey(operatorId, id) {
      const [row] = await database.query<{ name: string }>(
        'delete from operator_passkeys where operator_id = $1 and id = $2 returning name',
        [operatorId, id],
      )
      return row?.name ?? null
    },
    async usePasskey(id, counter) {
      await database.query(
        'update operator_passkeys set counter = greatest(counter, $2), last_used_at = clock_timestamp() where id = $1',
        [id, counter],
      )
    },
    async addChallenge(challenge, operatorId, lifetimeMs) {
      await database.query('delete from operator_challenges where expires_at < clock_timestamp()')
      const [row] = await database.query<{ id: string }>(
        `insert into operator_challenges (id, challenge, operator_id, expires_at)
         values ($1, $2, $3, clock_timestamp() + $4::bigint * interval '1 millisecond') returning id`,
        [randomUUID(), challenge, operatorId, lifetimeMs],
      )
      return row?.id ?? ''
    },
    async takeChallenge(id, operatorId) {
      const [row] = await database.query<{ challenge: string }>(
        `delete from operator_challenges where id = $1 and operator_id is not distinct from $2
           and expires_at > clock_timestamp() returning challenge`,
        [uuidOrNull(id), operatorId],
      )
      return row?.challenge ?? null
    },
  }
}
