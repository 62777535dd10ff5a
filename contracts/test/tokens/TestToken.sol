// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @dev An ERC-20 token whose deviations from the standard a test can switch on.
contract TestToken {
    mapping(address owner => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;
    uint8 public constant decimals = 18;

    /// @dev Fee on transfer in millionths of the amount.
    uint256 private transferFeePpm;
    /// @dev 0: returns true; 1: returns nothing (USDT); 2: returns false and moves nothing.
    uint256 private returnMode;
    /// @dev USDT: `approve` reverts if both the old and the new allowance are not zero.
    bool public resetsAllowance;
    /// @dev Called before every transfer, as ERC-777 calls the hooks of holders.
    address public hook;
    bytes public hookData;
    /// @dev Limits the hook to transfers from or to this address; zero: every transfer.
    address private hookParty;
    bool public hookFailed;
    bool public hookSucceeded;

    error NotEnough();
    error NotAllowed();
    error ResetFirst();

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function setTransferFee(uint256 ppm) external {
        transferFeePpm = ppm;
    }

    function setReturnMode(uint256 mode) external {
        returnMode = mode;
    }

    function setResetsAllowance(bool resets) external {
        resetsAllowance = resets;
    }

    function setHook(address hook_, bytes calldata hookData_) external {
        setHookDuring(address(0), hook_, hookData_);
    }

    function setHookDuring(address party, address hook_, bytes calldata hookData_) public {
        (hookParty, hook, hookData) = (party, hook_, hookData_);
        (hookFailed, hookSucceeded) = (false, false);
    }

    function approve(address spender, uint256 amount) external {
        if (resetsAllowance && amount != 0 && allowance[msg.sender][spender] != 0) revert ResetFirst();
        allowance[msg.sender][spender] = amount;
        _returnResult();
    }

    function transfer(address to, uint256 amount) external {
        if (returnMode != 2) _move(msg.sender, to, amount);
        _returnResult();
    }

    function transferFrom(address from, address to, uint256 amount) external {
        if (returnMode != 2) {
            if (allowance[from][msg.sender] < amount) revert NotAllowed();
            if (allowance[from][msg.sender] != type(uint256).max) allowance[from][msg.sender] -= amount;
            _move(from, to, amount);
        }
        _returnResult();
    }

    function _move(address from, address to, uint256 amount) private {
        if (hook != address(0) && (hookParty == address(0) || hookParty == from || hookParty == to)) {
            (bool success,) = hook.call(hookData);
            if (success) hookSucceeded = true;
            else hookFailed = true;
        }
        if (balanceOf[from] < amount) revert NotEnough();
        balanceOf[from] -= amount;
        balanceOf[to] += amount - amount * transferFeePpm / 1e6;
    }

    function _returnResult() private view {
        if (returnMode == 1) return;
        uint256 result = returnMode == 0 ? 1 : 0;
        assembly {
            mstore(0, result)
            return(0, 32)
        }
    }
}
