/** The partner's own id of a built swap, by the reference in its transaction, for 30 days. */
export type BuiltExternalId = Readonly<{ ref: string; partnerId: string; externalId: string }>

export interface BuiltExternalIds {
  save(built: BuiltExternalId): Promise<void>
}
