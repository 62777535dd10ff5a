// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface IERC20 {
    function balanceOf(address owner) external view returns (uint256);
    function allowance(address owner, address spender) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
    function approve(address spender, uint256 amount) external returns (bool);
}

/// @dev Stands for the native coin where a token address is expected.
address constant NATIVE = address(0);

/// @title Transfers
/// @notice Token calls that accept a missing return value (USDT) and revert if the token returns false or has no code.
library Transfers {
    /// @dev The token reverted without a reason, returned anything but true, or has no code.
    error TokenRefused(address token);
    /// @dev The recipient reverted on a transfer of the native coin.
    error CoinRefused(address to);

    function balanceOf(address token, address owner) internal view returns (uint256) {
        return token == NATIVE ? owner.balance : IERC20(token).balanceOf(owner);
    }

    /// @dev Pays from this contract's own balance.
    function pay(address token, address to, uint256 amount) internal {
        if (token == NATIVE) {
            if (!tryPayNative(to, amount)) revert CoinRefused(to);
        } else {
            _call(token, abi.encodeCall(IERC20.transfer, (to, amount)));
        }
    }

    /// @dev Pays the native coin, or keeps it if the recipient refuses.
    function tryPayNative(address to, uint256 amount) internal returns (bool success) {
        (success,) = to.call{value: amount}("");
    }

    /// @dev `from` must be msg.sender. SwapRouter is the only caller.
    function pull(address token, address from, address to, uint256 amount) internal {
        _call(token, abi.encodeCall(IERC20.transferFrom, (from, to, amount)));
    }

    function approve(address token, address spender, uint256 amount) internal {
        _call(token, abi.encodeCall(IERC20.approve, (spender, amount)));
    }

    function _call(address token, bytes memory data) private {
        (bool success, bytes memory result) = token.call(data);
        if (!success && result.length > 0) {
            // Pass on the token's revert reason, so that a simulation shows it.
            assembly ("memory-safe") {
                revert(add(result, 32), mload(result))
            }
        }
        bool accepted = result.length == 0 ? token.code.length > 0 : result.length >= 32 && uint256(bytes32(result)) == 1;
        if (!success || !accepted) revert TokenRefused(token);
    }
}
