import { Button, Tooltip } from '@mantine/core'
import type { AdminActionName } from '@swapyard/schema'
import type { ReactNode } from 'react'
import { useAction } from '../api/actions.ts'
import { useMissingRole } from '../api/roles.ts'
import { useDialog } from '../app/dialog-host.tsx'
import { ActionSteps } from './action-steps.tsx'

export type ActionProps = Readonly<{
  action: AdminActionName
  /** Text of the button; the dialog has it as its title. */
  label: string
  /** Arguments that the page knows. The dialog shows them and asks for the others. */
  given?: Readonly<Record<string, string>>
  /** First values of arguments that the operator may change. */
  initial?: Readonly<Record<string, string>>
  /** What the operator must know before the action. */
  children?: ReactNode
}>

/** A button that opens the dialog of an action. Without the role it says so. */
export function ActionButton(props: ActionProps) {
  const openDialog = useDialog()
  const entry = useAction(props.action)
  const reason = useMissingRole(entry?.role ?? 'viewer')
  const open = () => {
    if (entry !== null) openDialog(props.label, (close) => <ActionSteps {...props} entry={entry} onClose={close} />)
  }
  return (
    <RoleButton label={props.label} reason={reason} onClick={open} isLoading={entry === null} action={props.action} />
  )
}

type ButtonProps = Readonly<{
  label: string
  reason: string | null
  onClick: () => void
  isLoading?: boolean
  /** By which tests find the button of an action. */
  action?: AdminActionName
}>

/** Without the role it stays focusable, so that its reason can be read. */
export function RoleButton({ label, reason, onClick, isLoading = false, action }: ButtonProps) {
  if (reason === null)
    return (
      <Button variant="default" size="compact-sm" onClick={onClick} disabled={isLoading} data-action={action}>
        {label}
      </Button>
    )
  return (
    <Tooltip label={reason} events={{ hover: true, focus: true, touch: true }}>
      <Button
        variant="default"
        size="compact-sm"
        data-disabled
        aria-disabled
        aria-description={reason}
        data-action={action}
      >
        {label}
      </Button>
    </Tooltip>
  )
}
