// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface IToken {
    function transfer(address to, uint256 amount) external;
    function transferFrom(address from, address to, uint256 amount) external;
}

/// @dev A third-party router that pays the requested output from its own balance. The zero address is the native coin.
contract ThirdPartyRouter {
    error WrongValue(uint256 value);

    function trade(address source, uint256 amountIn, address target, uint256 amountOut) external payable {
        if (msg.value != (source == address(0) ? amountIn : 0)) revert WrongValue(msg.value);
        if (source != address(0)) IToken(source).transferFrom(msg.sender, address(this), amountIn);
        if (target != address(0)) return IToken(target).transfer(msg.sender, amountOut);
        (bool success,) = msg.sender.call{value: amountOut}("");
        require(success, "native transfer failed");
    }

    receive() external payable {}
}
