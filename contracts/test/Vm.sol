// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @dev The forge cheat codes that the tests use.
interface Vm {
    function readFile(string calldata path) external view returns (string memory);
    function parseJsonBytes(string calldata json, string calldata key) external pure returns (bytes memory);
    function prank(address sender) external;
    function startPrank(address sender) external;
    function stopPrank() external;
    function deal(address owner, uint256 value) external;
    function warp(uint256 timestamp) external;
    function expectRevert() external;
    function expectPartialRevert(bytes4 reason) external;
    function expectRevert(bytes calldata reason) external;
    function expectEmit() external;
    function label(address owner, string calldata name) external;
    function getNonce(address owner) external view returns (uint64);
    function computeCreateAddress(address deployer, uint256 nonce) external pure returns (address);
    function snapshotState() external returns (uint256);
    function revertToState(uint256 snapshot) external returns (bool);
    function etch(address target, bytes calldata code) external;
}
